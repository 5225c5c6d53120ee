// Over 200 lines, because every case uses the one stream that is opened here.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { Router } from 'express';
import { pino } from 'pino';
import { test as base, expect } from 'vitest';
import type { RevocationListener } from '#edge/authenticate/revocations.ts';
import { answerErrors } from '#edge/http/answer-errors.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { serveRoutes } from '../../test/serve.ts';
import { follow } from '../../testing/http/event-source.ts';
import { until } from '../../testing/until.ts';
import type { EventStream } from './event-stream.ts';
import { type EventStreamsOptions, openEventStreams } from './event-streams.ts';
import { eventMessage, idMessage } from './messages.ts';

const test = base.extend('serve', ({ task: _ }, { onCleanup }) => {
  const resources = new AsyncDisposableStack();
  onCleanup(() => resources.disposeAsync());
  return async (options: Partial<EventStreamsOptions> = {}) => {
    const metrics = createMetrics();
    const limits = { heartbeatMs: 60_000, perOwnerMax: 10, bufferBytesMax: 100_000 };
    const streams = openEventStreams({ ...limits, metrics, ...options });
    const opened: EventStream[] = [];
    const routes = Router().get(
      '/',
      (request, response) => void opened.push(streams.open(request, response)),
    );
    const { url } = resources.use(await serveRoutes(routes, answerErrors(pino({ level: 'silent' }))));
    resources.use(streams);
    const metric = async (name: string) =>
      ((await metrics.getSingleMetric(name)?.get())?.values ?? [])[0]?.value ?? 0;
    return { url, opened, streams, metric };
  };
});

const message = (text: string) => eventMessage({ data: JSON.stringify(text) });

test('the headers declare an event stream, and forbid buffering and caching', async ({ serve }) => {
  const { url, opened } = await serve();
  const stream = await follow(url);
  expect(stream.status).toBe(200);
  expect(Object.fromEntries(stream.headers)).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  void opened[0]?.send(message('one'));
  void opened[0]?.send(idMessage('a-1'));
  expect(await stream.data(1)).toEqual(['one']);
  await until(stream.lastEventId, (id) => id === 'a-1');
  opened[0]?.end(message('last'));
  await stream.over();
  expect(await stream.data(2)).toEqual(['one', 'last']);
});

test('a silent stream gets keep-alive comments', async ({ serve }) => {
  const { url } = await serve({ heartbeatMs: 10 });
  await using stream = await follow(url);
  await until(stream.comments, (count) => count > 3);
  expect(stream.messages).toEqual([]);
});

test('when the client disconnects, the stream closes, and waits for room end', async ({ serve }) => {
  const { url, opened, metric } = await serve({ bufferBytesMax: 1_000_000_000 });
  const response = await getPaused(url);
  await until(() => opened.length, Boolean);
  const [stream] = opened as [EventStream];
  let calls = 0;
  stream.onClose(() => {
    calls += 1;
  });
  const room = fill(stream);
  expect(room).toBeInstanceOf(Promise);
  response.destroy();
  await room;
  await until(() => calls, Boolean);
  expect(stream.isOpen).toBe(false);
  expect(stream.send(message('nobody hears it'))).toBeUndefined();
  stream.onClose(() => {
    calls += 1;
  });
  expect([calls, await metric('annals_event_streams')]).toEqual([2, 0]);
});

/** A client that reads nothing after the headers. */
const getPaused = async (url: string): Promise<IncomingMessage> => {
  const [response] = (await once(get(url), 'response')) as [IncomingMessage];
  return response.on('error', () => {});
};

/** Sends more than the buffers of both ends hold. */
const fill = (stream: EventStream): Promise<void> | undefined => {
  let room: Promise<void> | undefined;
  for (let sent = 0; sent < 400; sent += 1) room = stream.send(LARGE);
  return room;
};
const LARGE = message('x'.repeat(50_000));
const MESSAGES_MAX = 2_000;

test('a reader that is too slow gets a problem after complete messages, with no gap in between', async ({
  serve,
}) => {
  const { url, opened, metric } = await serve({ bufferBytesMax: 200_000 });
  const response = await getPaused(url);
  await until(() => opened.length, Boolean);
  const [stream] = opened as [EventStream];
  let sent = 0;
  for (; stream.isOpen && sent < MESSAGES_MAX; sent += 1)
    void stream.send(message(`${sent} ${'x'.repeat(10_000)}`));
  expect(stream.isOpen).toBe(false);
  let text = '';
  for await (const chunk of response) text += chunk;
  const messages = text.split('\n\n').filter((each) => each !== '' && !each.startsWith(':'));
  expect(messages.pop()).toMatch(/^event: problem\ndata: \{.*"code":"too_slow"/);
  expect(messages.map((each) => Number(/^data: "(\d+)/.exec(each)?.[1]))).toEqual(
    Array.from({ length: sent }, (_, index) => index),
  );
  expect(await metric('annals_event_stream_overflows_total')).toBe(1);
});

test('a reader that takes nothing at all is disconnected', async ({ serve }) => {
  const { url, opened } = await serve({ heartbeatMs: 20, bufferBytesMax: 1_000_000_000 });
  const response = await getPaused(url);
  await until(() => opened.length, Boolean);
  void fill(opened[0] as EventStream);
  let isClosed = false;
  opened[0]?.onClose(() => {
    isClosed = true;
  });
  await until(() => isClosed, Boolean);
  response.destroy();
});

test('an owner may open a limited number of streams, and another after closing one', async ({ serve }) => {
  const { url, metric } = await serve({ perOwnerMax: 2 });
  const [first, second] = await Promise.all([follow(url), follow(url)]);
  expect(await metric('annals_event_streams')).toBe(2);
  const refused = await fetch(url);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
  expect(await refused.json()).toMatchObject({
    code: 'too_many_streams',
    detail: 'At most 2 streams can be open at once; close one first.',
  });
  await first?.close();
  await until(
    async () => metric('annals_event_streams'),
    (count) => count === 1,
  );
  const third = await follow(url);
  expect(third.status).toBe(200);
  await Promise.all([second?.close(), third.close()]);
});

test('a stream ends with the reason when its right is lost', async ({ serve }) => {
  let refusal: Error | undefined;
  const asked: Request[] = [];
  const refusalNow = (request: Request) => {
    asked.push(request);
    return refusal;
  };
  const { url } = await serve({ recheckMs: 10, refusalNow });
  const stream = await follow(url);
  await until(
    () => asked.length,
    (count) => count > 2,
  );
  expect(stream.isOver()).toBe(false);
  refusal = new HttpProblem('invalid_token', { detail: 'The token was revoked.' });
  await stream.over();
  expect(stream.messages).toMatchObject([
    { event: 'problem', data: expect.stringContaining('The token was revoked.') },
  ]);
});

test('a revocation ends the streams of its user before anything else is sent, and those of others only if they are refused', async ({
  serve,
}) => {
  let refusal: Error | undefined;
  const listeners = new Set<RevocationListener>();
  const onRevoked = (listener: RevocationListener) => {
    listeners.add(listener);
    return { [Symbol.dispose]: () => void listeners.delete(listener) };
  };
  const { url, streams } = await serve({ recheckMs: 3_600_000, refusalNow: () => refusal, onRevoked });
  const stream = await follow(url);
  listeners.forEach((tell) => void tell(undefined));
  expect(stream.isOver()).toBe(false);
  refusal = new HttpProblem('invalid_token', { detail: 'The token was revoked.' });
  listeners.forEach((tell) => void tell(7));
  expect(stream.isOver()).toBe(false);
  listeners.forEach((tell) => void tell(undefined));
  await stream.over();
  expect(stream.messages).toMatchObject([
    { event: 'problem', data: expect.stringContaining('The token was revoked.') },
  ]);
  await streams[Symbol.asyncDispose]();
  expect(listeners.size).toBe(0);
});

test('when the server stops, all streams end, and no others begin', async ({ serve }) => {
  const { url, streams } = await serve();
  const open = await Promise.all([follow(url), follow(url)]);
  streams.drain();
  for (const stream of open) {
    await stream.over();
    expect(stream.messages).toEqual([]);
  }
  expect((await fetch(url)).status).toBe(503);
});
