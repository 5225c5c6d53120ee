// Takes minutes, so it starts first.
import { expect, test } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { createRandom } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';
import { nginxMissing } from '../engines/nginx.ts';
import { COPIES, ROLES, startCopies } from './copies.ts';
import { LATE_MAX, startLoad } from './steady-load.ts';
import { startReaders } from './steady-readers.ts';

/** The rounds of every kind of request between two restarts. */
const ROUNDS_BETWEEN = 1;
const TEST_MS = scaled(1_500_000);

if (nginxMissing !== undefined) process.stderr.write(`Rolling restarts are not tried: ${nginxMissing}.\n`);

test.skipIf(nginxMissing !== undefined)(
  `every replica of every role is restarted under load, and no request fails (TEST_SEED=${SEED})`,
  async () => {
    await using copies = await startCopies();
    await using load = await startLoad(copies);
    await using readers = await startReaders(copies);
    const ended: unknown[] = [];
    for (const { role, copy } of inSomeOrder()) {
      await load.untilAnswered(ROUNDS_BETWEEN);
      ended.push(await copies.restart(role, copy));
      // No client sends requests to the projector.
      if (role !== 'projector') await copies.asked(role, copy);
    }
    await load.untilAnswered(ROUNDS_BETWEEN);
    const { requests, late, failures } = await load.end();
    const { streams, messages, ...read } = await readers.end();
    console.log(
      `${ended.length} processes restarted; ${requests} requests, ${failures.length} failed, ${late} answered too late; ${messages} messages in ${streams} streams`,
    );
    expect(copies.explain(failures)).toEqual([]);
    expect(late / requests).toBeLessThan(LATE_MAX);
    expect(read).toEqual({ failures: [], faults: [] });
    expect(ended).toEqual(ended.map(() => 0));
  },
  TEST_MS,
);

const inSomeOrder = () => {
  const random = createRandom(SEED);
  const places = ROLES.flatMap((role) =>
    Array.from({ length: COPIES }, (_, copy) => ({ role, copy, rank: random() })),
  );
  return places.toSorted((one, other) => one.rank - other.rank);
};
