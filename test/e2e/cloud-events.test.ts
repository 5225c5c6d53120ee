import { CloudEvent, HTTP } from 'cloudevents';
import { expect } from 'vitest';
import { follow } from '../../testing/http/event-source.ts';
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
