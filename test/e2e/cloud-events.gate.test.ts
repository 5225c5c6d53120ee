import { CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import type { Event } from '#shared/rest/events.ts';
import { follow } from '../../testing/http/event-source.ts';
import { until } from '../../testing/until.ts';
import { sharedTest as test } from '../engines/installation-fixture.ts';

const ACCEPT = 'text/event-stream; format=cloudevents';

test('a stream has each event in the form of CloudEvents, if the client accepts that', async ({
  ada,
  ask,
  headersOfAda,
  installation,
  publishing,
}) => {
  const after = await publishing.cursor();
  const id = await publishing.publish('In the cloud');
  const url = `${installation.url}/events?after=${after}&subject=article-${id}`;
  const { fetch } = installation;
  await using plain = await follow(url, { headers: headersOfAda, fetch });
  await using cloud = await follow(url, { headers: { ...headersOfAda, accept: ACCEPT }, fetch });
  const events = await plain.data<{ id: string; type: string; version: number; data: object }>(2);
  const cloudEvents = await cloud.data<Record<string, unknown>>(2);
  expect(cloudEvents.map(({ id: each, data }) => [each, data])).toEqual(
    events.map(({ id: each, data }) => [each, data]),
  );
  for (const [index, event] of cloudEvents.entries()) {
    const received = HTTP.toEvent({
      headers: { 'content-type': 'application/cloudevents+json' },
      body: JSON.stringify(event),
    });
    expect(received).toBeInstanceOf(CloudEvent);
    expect((received as CloudEvent).validate()).toBe(true);
    expect(event).toMatchObject({
      source: installation.url,
      subject: `article-${id}`,
      actor: `user:${ada.userId}`,
    });
    const { pathname } = new URL(String(event.dataschema));
    const schema = await ask('GET', pathname);
    expect([schema.status, pathname]).toEqual([
      200,
      `/schemas/events/${events[index]?.type}/${events[index]?.version}`,
    ]);
  }
  expect(cloud.lastEventId()).toBe(plain.lastEventId());
});

const BATCH = 'application/cloudevents-batch+json';
const ONE = 'application/cloudevents+json';

/** As the SDK reads a response. */
const received = (type: string | null, body: unknown) =>
  HTTP.toEvent({ headers: { 'content-type': type ?? '' }, body: JSON.stringify(body) });

test('pages and single events are CloudEvents, if the client accepts that', async ({
  ada,
  ask,
  publishing,
}) => {
  const after = await publishing.cursor();
  const id = await publishing.publish('In a batch');
  const token = ada.token;
  const get = (path: string, accept: string) => ask('GET', path, { token, headers: { accept } });
  const path = `/events?after=${after}&subject=article-${id}&limit=1`;
  const plain = await get(path, 'application/json');
  const batch = await get(path, `${BATCH}, application/json;q=0.5`);
  expect(batch.headers.get('content-type')).toContain(BATCH);
  expect(batch.headers.get('link')).toBe(plain.headers.get('link'));
  expect(batch.headers.get('link')).toContain('rel="next"');
  expect(batch.headers.get('etag')).not.toBe(plain.headers.get('etag'));
  const [event] = plain.body as readonly Event[];
  const [cloudEvent] = received(batch.headers.get('content-type'), batch.body) as CloudEvent[];
  expect(cloudEvent?.validate()).toBe(true);
  expect(cloudEvent).toMatchObject({ id: event?.id, type: 'article.drafted', cursor: event?.cursor });
  expect(cloudEvent?.data).toEqual(event?.data);
  const latest = await get(`/events?sort=-cursor&subject=article-${id}`, BATCH);
  expect((latest.body as readonly { type: string }[]).map(({ type }) => type)).toEqual([
    'article.published',
    'article.drafted',
  ]);

  const one = await get(`/events/${event?.id}`, ONE);
  expect(one.headers.get('content-type')).toContain(ONE);
  expect(received(ONE, one.body)).toMatchObject({ id: event?.id, data: event?.data });
  expect(one.body).toEqual((batch.body as readonly object[])[0]);
});

test('an empty page of CloudEvents is another representation than one of JSON', async ({ ada, ask }) => {
  const path = '/events?subject=article-999999999';
  const [plain, batch] = await Promise.all(
    ['application/json', BATCH].map((accept) => ask('GET', path, { token: ada.token, headers: { accept } })),
  );
  expect([plain?.body, batch?.body]).toEqual([[], []]);
  expect(batch?.headers.get('etag')).not.toBe(plain?.headers.get('etag'));
});

test('a type that a read does not have is refused with those that it has', async ({ ada, ask }) => {
  const refused = async (path: string, accept: string) => {
    const { status, body } = await ask('GET', path, { token: ada.token, headers: { accept } });
    return [status, (body as { detail?: string }).detail];
  };
  expect(await refused('/events', ONE)).toEqual([
    406,
    'There is application/json, application/hal+json, text/event-stream, application/cloudevents-batch+json.',
  ]);
  expect(await refused('/events/0b7c1f3e-9a4d-4c5e-8f60-718293a4b5c6', BATCH)).toEqual([
    406,
    'There is application/json, application/hal+json, application/cloudevents+json.',
  ]);
  for (const path of ['/articles', '/webhooks', '/users'])
    expect(await refused(path, BATCH)).toEqual([406, 'There is application/json, application/hal+json.']);
});

test.for(['cloudevents', 'cloudevents_binary'] as const)(
  'a webhook with the format %s gets events that the SDK reads, signed',
  async (format, { ada, ask, publishing, sink }) => {
    const id = await publishing.publish(`As ${format}`);
    const { body: registered } = await ask('POST', '/webhooks', {
      token: ada.token,
      body: {
        ...{ url: `${sink.url}/${format}`, eventTypes: ['article.*'], payload: 'full', format },
        ...{ filter: { articleId: Number(id) }, headers: { 'Ce-Team': 'blue' } },
      },
    });
    const { id: webhookId, secret } = registered as { id: number; secret: string };
    await ask('PATCH', `/articles/${id}`, { token: ada.token, body: { title: 'Changed, 100 %' } });
    const [delivery] = await until(
      async () => sink.received.filter(({ path }) => path === `/${format}`),
      (found) => found.length > 0,
    );
    const { headers = {}, body = '' } = delivery ?? {};
    new Webhook(secret).verify(body, headers as Record<string, string>);
    const event = HTTP.toEvent({ headers: { ...headers } as never, body }) as CloudEvent;
    expect(event.validate()).toBe(true);
    expect(event).toMatchObject({
      ...{ id: headers['webhook-id'], type: 'article.edited', subject: `article-${id}` },
      data: { title: 'Changed, 100 %' },
    });
    const shown = await ask('GET', `/webhooks/${webhookId}/deliveries/${event.id}/body`, {
      token: ada.token,
    });
    expect(shown.body).toEqual({ body, reason: null });
    expect((await ask('GET', `/webhooks/${webhookId}`, { token: ada.token })).body).toMatchObject({ format });
  },
);
