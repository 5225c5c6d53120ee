import { expect } from 'vitest';
import { scaled } from '../../../testing/load.ts';
import { head, openMany, readSlowly } from './sockets.ts';
import { test as base } from './target.ts';

// The memory that docs/overload.md tells operators to give a process, with all roles in it, under mixed
// traffic: V8 may use no more than that leaves for it, or the process ends.
const CLIENT_MIB = 64;
const GIVEN_MIB = 512 + CLIENT_MIB;
/** Code, stacks, buffers outside of the heap, and what the allocator keeps. */
const OUTSIDE_HEAP_MIB = 256;
const TRAFFIC_MS = 12_000;
const WORKERS = 6;
const SLOW_READERS = 20;
const STREAMS = 40;
const BODY_CHARACTERS = 20_000;
const TEST_MS = scaled(120_000);

const test = base.extend(
  'targetSettings',
  { scope: 'file' },
  {
    CLIENT_BYTES_MAX: String(CLIENT_MIB * 1_048_576),
    NODE_OPTIONS: `--max-old-space-size=${GIVEN_MIB - OUTSIDE_HEAP_MIB} --max-semi-space-size=8`,
    MALLOC_ARENA_MAX: '2',
    RATE_LIMIT: '1000000',
    RATE_LIMIT_BURST: '1000000',
  },
);

test(
  `a process keeps within 512 MiB beside CLIENT_BYTES_MAX, whatever clients mix`,
  async ({ target }) => {
    const headers = {
      authorization: `Bearer ${target.administrator.token}`,
      'content-type': 'application/json',
    };
    using memory = target.watchMemory();
    using streams = openMany(target, STREAMS);
    using slow = openMany(target, SLOW_READERS);
    using _reading = readSlowly(slow.all, 500);
    const ask = head(
      'GET /events',
      `Authorization: ${headers.authorization}`,
      'Accept: text/event-stream',
      'Connection: close',
    );
    for (const { socket } of streams.all) socket.write(ask);
    const list = head(
      'GET /articles?limit=100',
      `Authorization: ${headers.authorization}`,
      'Connection: close',
    );
    const endMs = performance.now() + TRAFFIC_MS;
    let [count, failures] = [0, 0];
    const article = () =>
      JSON.stringify({
        title: `Number ${count}`,
        body: 'x'.repeat(BODY_CHARACTERS),
        tags: [],
        publish: true,
      });
    /** Each document is new, so that none is cached. */
    const document = () =>
      JSON.stringify({
        query: `query Q${count} { posts(first: 20) { edges { node { id a${count}: title } } } }`,
      });
    const kinds: readonly (() => Promise<Response>)[] = [
      () => target.ask('/articles', { method: 'POST', headers, body: article() }),
      () => target.ask('/articles?limit=50', { headers }),
      () => target.ask('/graphql', { method: 'POST', headers, body: document() }),
      () => target.ask('/events?limit=100&sort=-cursor', { headers }),
      () => target.ask(`/articles?q=number`, { headers }),
      () => target.ask('/openapi.json', { headers }),
    ];
    const work = async (): Promise<void> => {
      while (performance.now() < endMs) {
        count += 1;
        const response = await kinds[count % kinds.length]?.();
        await response?.arrayBuffer();
        if (response === undefined || (response.status >= 500 && response.status !== 503)) failures += 1;
      }
    };
    const workers = Array.from({ length: WORKERS }, work);
    for (const { socket } of slow.all) socket.write(list);
    await Promise.all(workers);
    console.log(
      `${count} requests: ${memory.beforeMib} MiB before, at most ${memory.peakMib()} of ${GIVEN_MIB} MiB`,
    );
    expect(failures).toBe(0);
    expect(count).toBeGreaterThan(50);
    expect(memory.peakMib()).toBeLessThanOrEqual(GIVEN_MIB);
    await target.recovered();
  },
  TEST_MS,
);
