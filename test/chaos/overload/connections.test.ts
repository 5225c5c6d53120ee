import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';
import { scaled } from '../../../testing/load.ts';
import { until } from '../../../testing/until.ts';
import { head, openMany, openRaw, type Raw } from './sockets.ts';
import { test as base, type Target } from './target.ts';

const CONNECTIONS = 10_000;
/** The open files of each of the two processes beside the connections. */
const OTHER_FILES = 1_000;
const AT_ONCE = 500;
const PATIENCE_MS = 60_000;
const TEST_MS = scaled(120_000);
const KIB_PER_CONNECTION_MAX = 32;

const filesMax = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }));
const size = Number.isNaN(filesMax) ? CONNECTIONS : Math.min(CONNECTIONS, filesMax - OTHER_FILES);

// Allows idle connections to stay long enough.
const test = base.extend(
  'targetSettings',
  { scope: 'file' },
  {
    CONNECTIONS_MAX: String(size),
    HEADERS_TIMEOUT_MS: '60000',
    REQUEST_TIMEOUT_MS: '60000',
  },
);

const connected = async ({ socket }: Raw) => (socket.connecting ? once(socket, 'connect') : undefined);

/** Retries until it is admitted. */
const isLetIn = async (target: Target): Promise<boolean> => {
  const raw = openRaw(target);
  raw.socket.write(head('GET /articles', 'Connection: close'));
  await raw.closed;
  return raw.statuses().join() === '200';
};

test(
  `with ${size} connections, idle after an answer or silent from the start, others are answered until all places are taken, and the idle make room`,
  async ({ target }) => {
    using memory = target.watchMemory();
    using silent = openMany(target, 0);
    using idle = openMany(target, 0);
    const openSome = async (many: typeof silent, count: number, request: string) => {
      for (let opened = 0; opened < count; opened += AT_ONCE) {
        const some = Array.from({ length: Math.min(AT_ONCE, count - opened) }, () => many.add());
        await Promise.all(some.map(connected));
        if (request === '') continue;
        for (const { socket } of some) socket.write(request);
        await until(
          () => some.filter(({ statuses }) => statuses().length === 0).length,
          (missing) => missing === 0,
          PATIENCE_MS,
        );
      }
    };
    const half = Math.floor(size / 2);
    await openSome(silent, half, '');
    await openSome(idle, size - half - 100, head('GET /articles'));
    expect(new Set(idle.all.map(({ statuses }) => statuses().join()))).toEqual(new Set(['200']));
    for (let asked = 0; asked < 20; asked += 1) expect((await target.ask('/articles')).status).toBe(200);
    const kibEach = ((memory.peakMib() - memory.beforeMib) * 1_024) / size;
    console.log(
      `${size} connections: ${memory.beforeMib} MiB before, at most ${memory.peakMib()} MiB, ${kibEach.toFixed(1)} KiB each`,
    );
    expect(kibEach).toBeLessThan(KIB_PER_CONNECTION_MAX);

    // All places are taken now, and more clients come.
    await openSome(silent, 100, '');
    await until(
      async () => openRaw(target).closed.then(() => target.metric('annals_http_connections_refused_total')),
      (refused) => refused > 0,
      PATIENCE_MS,
    );
    expect(await until(() => isLetIn(target), Boolean, PATIENCE_MS)).toBe(true);
    await until(
      () => idle.all.filter(({ socket }) => !socket.closed).length,
      (left) => left === 0,
      PATIENCE_MS,
    );
  },
  TEST_MS,
);
