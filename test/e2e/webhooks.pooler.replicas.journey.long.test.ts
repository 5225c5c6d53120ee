import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import type { Replay } from '#shared/rest/deliveries.ts';
import type { Delivery } from '#shared/rest/delivery.ts';
import type { Webhook } from '#shared/rest/webhook.ts';
import type { Received } from '../../testing/http/webhook-sink.ts';
import { until } from '../../testing/until.ts';
import { sharedTest } from '../engines/installation-fixture.ts';

/** A webhook from its registration to its end, only by HTTP. The tests depend on each other. */
let webhook: { readonly path: string; readonly secret: string };

const test = sharedTest
  .extend('draft', { scope: 'file' }, ({ ada, session }) => async (title: string) => {
    const { written } = await session.write('POST', '/articles', {
      token: ada.token,
      body: { title, body: '', tags: [], publish: false },
    });
    return written.id;
  })
  .extend('untilReceived', { scope: 'file' }, ({ sink }) => (count: number) => {
    return until(
      () => sink.received,
      (received) => received.length >= count,
    );
  })
  .extend('read', { scope: 'file' }, ({ ada, session }) => async <Body>(path: string) => {
    return (await session.read<Body>(path, { token: ada.token })).body;
  })
  .extend('act', { scope: 'file' }, ({ ada, session }) => (path: string, body?: object) => {
    return session.write('POST', path, { token: ada.token, ...(body && { body }) });
  });

/** According to Standard Webhooks, implemented independently. */
const isSigned = ({ id, headers, body }: Received, secret: string): boolean => {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key)
    .update(`${id}.${headers['webhook-timestamp']}.${body}`)
    .digest('base64');
  return String(headers['webhook-signature']).split(' ').includes(`v1,${signature}`);
};

test('events arrive, signed with the secret from the registration', async ({
  ada,
  draft,
  read,
  session,
  sink,
  untilReceived,
}) => {
  const body = {
    url: `${sink.url}/hook`,
    eventTypes: ['article.*'],
    payload: 'full',
    headers: { 'X-Team': 'blue' },
  };
  const made = await session.write('POST', '/webhooks', { token: ada.token, body });
  expect(made.status).toBe(201);
  const { secret } = made.body as { secret: string };
  webhook = { path: `/webhooks/${made.written.id}`, secret };
  const shown = await read<Webhook>(webhook.path);
  expect(shown).toMatchObject({ url: body.url, headers: { 'X-Team': '********' }, enabled: true });
  expect(JSON.stringify(shown)).not.toContain(secret);

  const articleId = await draft('On engines');
  const [received] = await untilReceived(1);
  expect(received?.headers).toMatchObject({ 'x-team': 'blue', 'content-type': 'application/json' });
  expect(isSigned(received as Received, secret)).toBe(true);
  expect(JSON.parse(received?.body ?? '')).toMatchObject({
    id: received?.id,
    type: 'article.drafted',
    subject: `article-${articleId}`,
    data: { articleId, title: 'On engines' },
  });
});

test('a test event, a delivery, and all events since a cursor can be sent again', async ({
  act,
  draft,
  read,
  sink,
  untilReceived,
}) => {
  const before = sink.received.length;
  const tested = await act(`${webhook.path}/test`);
  expect(tested.status).toBe(202);
  await untilReceived(before + 1);
  expect(JSON.parse(sink.received[before]?.body ?? '')).toMatchObject({ type: 'webhook.test_requested' });
  expect(tested.headers.get('location')).toBe(`${webhook.path}/deliveries/${sink.received[before]?.id}`);
  expect(tested.body).toMatchObject({ _links: { delivery: { href: tested.headers.get('location') } } });

  const first = sink.received[0] as Received;
  const again = await act(`${webhook.path}/deliveries/${first.id}/redeliver`);
  expect([again.status, again.headers.get('location')]).toEqual([
    202,
    `${webhook.path}/deliveries/${first.id}`,
  ]);
  await untilReceived(before + 2);
  expect(sink.received[before + 1]).toMatchObject({ id: first.id, body: first.body });

  const { cursor } = JSON.parse(first.body) as { cursor: string };
  await draft('On notes');
  await untilReceived(before + 3);
  // Active deliveries are not repeated.
  await until(
    () => read<Delivery>(`${webhook.path}/deliveries/${sink.received[before + 2]?.id}`),
    ({ state }) => state === 'delivered',
  );
  const asked = await act(`${webhook.path}/replay`, { from: cursor });
  expect(asked.status).toBe(202);
  const location = String(asked.headers.get('location'));
  const replay = await until(
    () => read<Replay>(location),
    ({ state }) => state === 'finished',
  );
  expect(await read<Replay[]>(`${webhook.path}/replays`)).toEqual([replay]);
  expect(replay.planned).toBe(1);
  // Where it begins, without the name of the event.
  expect(cursor).toMatch(new RegExp(`^${replay.from}(-|$)`));
  await untilReceived(before + 4);
  expect(sink.received[before + 3]).toMatchObject({
    id: sink.received[before + 2]?.id,
    body: sink.received[before + 2]?.body,
  });
});

test('after the deletion nothing is sent, and nothing of it is shown', async ({
  ada,
  draft,
  session,
  sink,
}) => {
  const { status } = await session.write('DELETE', webhook.path, { token: ada.token });
  expect(status).toBe(204);
  const before = sink.received.length;
  await draft('Unheard');
  expect((await session.read(`${webhook.path}/deliveries`, { token: ada.token })).status).toBe(404);
  expect(sink.received).toHaveLength(before);
});
