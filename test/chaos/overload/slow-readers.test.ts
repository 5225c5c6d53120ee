import { expect } from 'vitest';
import { scaled } from '../../../testing/load.ts';
import { until } from '../../../testing/until.ts';
import { head, openMany, readSlowly } from './sockets.ts';
import { test as base } from './target.ts';

const READERS = 80;
const ARTICLES = 100;
const BODY_CHARACTERS = 100_000;
const BYTE_EVERY_MS = 1_000;
const PATIENCE_MS = 60_000;
const START_MS = scaled(120_000);
const TEST_MS = scaled(120_000);
/** Out of 800 MiB that they request, with the garbage of refused requests. */
const GROWTH_MAX_MIB = 450;
const LIST = `/articles?limit=${ARTICLES}`;

const test = base
  .extend(
    'targetSettings',
    { scope: 'file' },
    {
      REQUEST_TIMEOUT_MS: '3000',
      STREAM_HEARTBEAT_MS: '300',
      CLIENT_BYTES_MAX: String(32 * 1_048_576),
      STREAM_BUFFER_BYTES_MAX: '262144',
    },
  )
  .extend('authorization', { scope: 'file' }, ({ target }) => `Bearer ${target.administrator.token}`)
  .extend(
    'requestOf',
    { scope: 'file' },
    ({ authorization }) =>
      (path: string, ...more: readonly string[]) =>
        head(`GET ${path}`, `Authorization: ${authorization}`, 'Connection: close', ...more),
  );

// Sequentially, with retries for a busy machine: the limit on buffered bytes is small here.
test.beforeAll(async ({ authorization, target }) => {
  const headers = { authorization, 'content-type': 'application/json' };
  const body = JSON.stringify({ title: 'Long', body: 'x'.repeat(BODY_CHARACTERS), tags: [] });
  for (let made = 0; made < ARTICLES; made += 1)
    await until(
      async () => (await target.ask('/articles', { method: 'POST', headers, body })).status,
      (status) => status === 201,
    );
  await until(
    async () => (await (await target.ask(LIST, { headers })).text()).length,
    (length) => length > ARTICLES * BODY_CHARACTERS,
  );
}, START_MS);

test(
  `${READERS} clients that read large answers a byte at a time are refused, or closed to make room`,
  async ({ requestOf, target }) => {
    using memory = target.watchMemory();
    using many = openMany(target, READERS);
    {
      using _reading = readSlowly(many.all, BYTE_EVERY_MS);
      for (const { socket } of many.all) socket.write(requestOf(LIST));
      await until(
        () => target.metric('annals_http_requests_in_flight'),
        (count) => count > 0,
        PATIENCE_MS,
      );
      await target.recovered();
    }
    await Promise.all(many.all.map(({ closed }) => closed));
    console.log(`large answers: ${memory.beforeMib} MiB before, at most ${memory.peakMib()} MiB`);
    const refused = many.all.filter(({ statuses }) => statuses().join() === '503');
    // Timing decides which of the two.
    const shed = await target.metric('annals_http_requests_shed_total', 'reason="bytes"');
    expect(shed + (await target.metric('annals_http_slow_clients_cut_total'))).toBeGreaterThan(0);
    expect(
      refused.filter(({ text }) => !/retry-after: 1\r\n[\s\S]*"code":"overloaded"/i.test(text())),
    ).toEqual([]);
    expect(many.all.filter(({ text }) => text().length > ARTICLES * BODY_CHARACTERS)).toEqual([]);
    expect(memory.peakMib() - memory.beforeMib).toBeLessThan(GROWTH_MAX_MIB);
  },
  TEST_MS,
);

test(
  `${READERS} clients that read a stream of events a byte at a time are closed as too slow`,
  async ({ authorization, requestOf, target }) => {
    using memory = target.watchMemory();
    using many = openMany(target, READERS);
    const [first] = (await (await target.ask('/events?limit=1', { headers: { authorization } })).json()) as {
      cursor: string;
    }[];
    {
      using _reading = readSlowly(many.all, BYTE_EVERY_MS);
      for (const { socket } of many.all)
        socket.write(requestOf(`/events?after=${first?.cursor}`, 'Accept: text/event-stream'));
      await until(
        () => target.metric('annals_event_stream_overflows_total'),
        (count) => count === READERS,
        PATIENCE_MS,
      );
      await until(
        () => target.metric('annals_event_streams'),
        (count) => count === 0,
        PATIENCE_MS,
      );
    }
    await Promise.all(many.all.map(({ closed }) => closed));
    console.log(`streams: ${memory.beforeMib} MiB before, at most ${memory.peakMib()} MiB`);
    expect(memory.peakMib() - memory.beforeMib).toBeLessThan(GROWTH_MAX_MIB);
    await target.recovered();
  },
  TEST_MS,
);
