import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { Doorbell } from '#shared/doorbell.ts';
import { anEvent, aStream } from '../../../test/contracts/event-log-engine.ts';
import { createDatabase, type TestDatabase } from '../../../test/engines/database.ts';
import { type EventLog, START } from '../event-log.ts';
import { openPostgresEventLog } from './postgres-event-log.ts';
import { createLogReader } from './read.ts';

let database: TestDatabase;
let log: EventLog;
let pool: Pool;
beforeAll(async () => {
  database = await createDatabase();
  log = await openPostgresEventLog({ url: database.url });
  pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 2 });
});
afterAll(async () => {
  await pool?.[Symbol.asyncDispose]();
  await log?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

test('those who ask for the same after the same ring share one look', async () => {
  await log.append(aStream(), 'any', [anEvent()]);
  const readLog = createLogReader(pool, new Doorbell());
  const [first, second] = await Promise.all([readLog(START), readLog(START)]);
  expect(first.events).toHaveLength(1);
  expect(second).toBe(first);
  expect(await readLog(START)).not.toBe(first);
});

test('who was rung for does not get a look from before the ring', async () => {
  const bell = new Doorbell();
  const readLog = createLogReader(pool, bell);
  const before = readLog(START);
  bell.ring();
  expect(await readLog(START)).not.toBe(await before);
});
