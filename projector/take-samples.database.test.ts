import { pino } from 'pino';
import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { readSamples } from '#process/operations/samples.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { countChained } from '../proof/service.ts';
import { registerUser } from '../test/engines/command-side.ts';
import { freshTest, test } from '../test/engines/processes.ts';
import { startProjecting } from '../test/engines/projection.ts';
import { createTestClock } from '../test/engines/test-clock.ts';
import { until } from '../testing/until.ts';
import { migrateLedger } from '../webhook-dispatcher/ledger/migrate.ts';
import { startSampling } from './take-samples.ts';

test('the first sample is recorded at once, with the deliveries of the last ten seconds', async ({
  side,
  projector,
}) => {
  await projector.start();
  const { pool, eventLog } = side;
  await migrateLedger(pool);
  await pool.query(
    `insert into webhook_ledger.delivery (webhook_id, event_id, position, type, subject, state, settled_at)
     select 1, gen_random_uuid(), 1, 'article.drafted', 'article-1', state, now() + settled
     from (values ('delivered', interval '1 hour', 30), ('delivered', interval '-15 seconds', 8), ('dead', interval '1 hour', 2))
       as written (state, settled, count), generate_series(1, count)`,
  );
  await using _sampling = await startSampling({
    ...{ domain: publishing, pool, eventLog, clock: REAL_TIME, countEvents: countChained },
    log: pino({ level: 'silent' }),
  });
  const [sample] = await until(
    async () => (await readSamples(pool, undefined)).samples,
    (samples) => samples.length > 0,
  );
  expect(sample).toMatchObject({ deliveredPerSecond: 3, dead: 2, parked: 0, events: 0 });
});

freshTest('while nothing happens, every third sample is taken', async ({ side }) => {
  const { pool, eventLog } = side;
  await migrateLedger(pool);
  await using _projection = await startProjecting(side);
  const clock = createTestClock(NOON_MS - 1);
  await using _sampling = await startSampling({
    ...{ domain: publishing, pool, eventLog, clock },
    log: pino({ level: 'silent' }),
  });
  const times = async () =>
    (await readSamples(pool, undefined)).samples.map(({ at }) => (at.getTime() - NOON_MS) / 1_000);
  await clock.pass(1);
  await until(times, (taken) => taken.length === 1);
  for (let tick = 0; tick < 6; tick += 1) await clock.pass(10_000);
  expect(await until(times, (taken) => taken.length > 2)).toEqual([0, 30, 60]);
  await registerUser(side);
  await clock.pass(10_000);
  expect(await until(times, (taken) => taken.length > 3)).toEqual([0, 30, 60, 70]);
});

const NOON_MS = Date.parse('2026-03-01T12:00:00Z');
