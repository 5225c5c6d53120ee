import { pino } from 'pino';
import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { readSamples } from '#process/operations/samples.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { countChained } from '../proof/service.ts';
import { test } from '../test/engines/processes.ts';
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
