import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { operate } from '../../testing/installation.ts';
import { scaled } from '../../testing/load.ts';
import { createRandom } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';
import { until } from '../../testing/until.ts';
import { startWorkers, type Workers } from '../engines/workers.ts';
import { LATE_MAX, startLoad } from './steady-load.ts';
import { startReaders } from './steady-readers.ts';

/** More by hand: CHAOS_ROUNDS=10. */
const ROUNDS = Number(process.env.CHAOS_ROUNDS ?? 1);
const ROUNDS_BETWEEN = 1;
const PATIENCE_MS = 120_000;
const TEST_MS = scaled(1_000_000);

test(
  'SIGHUP replaces every worker under load, and no request fails',
  async () => {
    await using annals = await startWorkers();
    await using load = await startLoad(annals);
    await using readers = await startReaders(annals);
    const before = await annals.pids();
    await load.untilAnswered(ROUNDS_BETWEEN);
    annals.primary.signal('SIGHUP');
    await annals.primary.logged('All workers are replaced.');
    await load.untilAnswered(ROUNDS_BETWEEN);
    const { requests, late, failures } = await load.end();
    const { streams, messages, ...read } = await readers.end();
    const after = await annals.pids();
    console.log(
      `${requests} requests, ${late} answered too late; ${messages} messages in ${streams} streams`,
    );
    expect(failures).toEqual([]);
    expect(late / requests).toBeLessThan(LATE_MAX);
    expect(read).toEqual({ failures: [], faults: [] });
    expect([...after.keys()].toSorted()).toEqual([...before.keys()].toSorted());
    expect([...after.values()].filter((pid) => [...before.values()].includes(pid))).toEqual([]);
    expect(await annals.primary.kill('SIGTERM')).toBe(0);
  },
  TEST_MS,
);

test(
  `kill -9 of each worker under load, ${ROUNDS} times: acknowledged writes are durable, and the other workers continue (TEST_SEED=${SEED})`,
  async () => {
    const random = createRandom(SEED);
    await using annals = await startWorkers();
    await using load = await startLoad(annals);
    await using readers = await startReaders(annals);
    let counted = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const name of [...(await annals.pids()).keys()].toSorted(() => random() - 0.5)) {
        await load.untilAnswered(ROUNDS_BETWEEN);
        const pid = (await annals.pids()).get(name) ?? 0;
        counted = await demandMore(annals, counted);
        process.kill(pid, 'SIGKILL');
        await until(
          async () => (await annals.pids()).get(name),
          (now) => now !== undefined && now !== pid,
          PATIENCE_MS,
        );
        // The remaining workers answer meanwhile.
        await load.untilAnswered(ROUNDS_BETWEEN);
        counted = await demandMore(annals, counted);
        await ready(annals);
      }
    }
    const { requests, failures } = await load.end();
    const { faults } = await readers.end();
    console.log(`${requests} requests, ${failures.length} failed`);
    // Requests to a killed worker were cut off; none waits for ever.
    expect(failures.filter(({ why }) => !isOfKilled(why))).toEqual([]);
    expect(faults).toEqual([]);
    // The log, the hash chain and the read model agree: all acknowledged writes that the load has read
    // are in all of them.
    expect(await operate(['audit', 'verify'], annals.settings, publishing)).toContain('roven');
    expect(await annals.primary.kill('SIGTERM')).toBe(0);
  },
  TEST_MS,
);

const ready = (annals: Workers) =>
  until(
    () =>
      annals.fetch(`${annals.url}/readyz`).then(
        ({ status }) => status,
        () => 0,
      ),
    (status) => status === 200,
    PATIENCE_MS,
  );

/** A counter of all processes never decreases. */
const demandMore = async (annals: Workers, counted: number): Promise<number> => {
  const now = (await annals.metrics())
    .split('\n')
    .filter((line) => line.startsWith('annals_http_request_duration_seconds_count'))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  expect(now).toBeGreaterThanOrEqual(counted);
  return now;
};

/** Without an answer, or with one that asks for a retry. */
const isOfKilled = (why: unknown): boolean => {
  const { status } = why as { readonly status: number };
  return status === 0 || status === 503;
};
