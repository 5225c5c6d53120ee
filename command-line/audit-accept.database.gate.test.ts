import { pino } from 'pino';
import { test as base, expect } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import { decide } from '#shared/authentic-events/change-statement.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { indexEvents, migrateEventIndex } from '#shared/event-index/event-index.ts';
import { type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { hashesOf } from '../proof/chain/block-of.ts';
import { startChain } from '../proof/chain/follow-chain.ts';
import { readChainEnd } from '../proof/stored/blocks.ts';
import { extendByAll, GENESIS } from '../proof/stored/chain.ts';
import { createBareEvents } from '../test/engines/bare-events.ts';
import { callAt, callLine } from '../test/engines/call-line.ts';
import type { CommandDatabase } from '../test/engines/command-side.ts';
import { until } from '../testing/until.ts';

const STREAM = 'article-8000001';
const REFUSED = 'event.not_authentic';

/** The events of the log, as a process reads them that has just started. */
const eventsAnew = async (database: CommandDatabase): Promise<readonly RecordedEvent[]> => {
  await using side = await database.open();
  return (await side.eventLog.page?.(START, 100)) ?? [];
};

/** A log to which an earlier release has appended an event after the upgrade. */
// biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
const test = base.extend('database', async ({}, { onCleanup }) => {
  const database = await createBareEvents(1);
  onCleanup(() => database[Symbol.asyncDispose]());
  return database;
});

test('an event that the chain reaches while the operator is asked is accepted as the chain has it', async ({
  database,
}) => {
  await using side = await database.open();
  await migrateAudit(side.pool);
  const confirm = async (): Promise<boolean> => {
    await using _chain = await startChain({
      ...side,
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
      clock: REAL_TIME,
    });
    const head = await side.eventLog.head();
    await until(
      () => readChainEnd(side.pool),
      ({ position }) => position >= head,
    );
    return true;
  };
  const environment = { NODE_ENV: 'test', ...database.settings };
  const accepted = await callAt({ environment, confirm }, ['audit', 'accept', '--all']);
  expect(accepted, accepted.complaint).toMatchObject({ exit: 0 });
  expect((await eventsAnew(database)).at(-1)).toMatchObject({
    type: 'article.drafted',
    chained: { type: REFUSED },
  });
});

test('a process that does not know yet that an event was accepted does not chain it as refused', async ({
  database,
}) => {
  const hashesAnew = async () => hashesOf(await eventsAnew(database));
  await using former = await database.open();
  // This process has read the event, and looks at decisions once a minute.
  expect((await former.eventLog.page?.(START, 100))?.at(-1)?.type).toBe(REFUSED);
  await migrateAudit(former.pool);
  const accepted = await callLine(database.settings, ['audit', 'accept', '--all', '--yes']);
  expect(accepted, accepted.complaint).toMatchObject({ exit: 0 });
  expect((await eventsAnew(database)).at(-1)).not.toHaveProperty('chained');
  const lines: string[] = [];
  const options = { metrics: createMetrics(), clock: REAL_TIME };
  {
    await using _chain = await startChain({
      ...{ ...former, ...options },
      log: pino({}, { write: (line: string) => void lines.push(line) }),
    });
    await until(
      () => lines.join(''),
      (printed) => printed.includes('An operator has accepted events'),
    );
  }
  expect(lines.join('')).not.toContain('"level":50');
  const head = await former.eventLog.head();
  await using side = await database.open();
  await using _chain = await startChain({ ...side, ...options, log: pino({ level: 'silent' }) });
  const end = await until(
    () => readChainEnd(side.pool),
    ({ position }) => position >= head,
  );
  expect(end.head).toEqual(extendByAll(GENESIS, await hashesAnew()));
});

test('a repetition corrects the index if the command ended before it did', async ({ database }) => {
  await using side = await database.open();
  const { pool, masterKey, auditDir, eventLog } = side;
  const events = (await eventLog.page?.(START, 100)) ?? [];
  await migrateEventIndex(pool);
  await inTransaction(pool, (connection) => indexEvents(connection, events));
  const refused = events.map(({ notAuthentic }) => notAuthentic).filter((digest) => digest !== undefined);
  await decide({ pool, masterKey, auditDir }, eventLog.identity, new Map([['accepted', refused]]));
  const types = async () =>
    (await pool.query('select type from event_index.event order by position')).rows.map(({ type }) => type);
  expect((await types()).at(-1)).toBe(REFUSED);
  const again = await callLine(database.settings, ['audit', 'accept', '--all', '--yes']);
  expect(again, again.complaint).toMatchObject({ exit: 0 });
  expect(await types()).toEqual((await eventsAnew(database)).map(({ type }) => type));
  expect(await types()).not.toContain(REFUSED);
});

test.for(['accept', 'reject'])(
  'audit %s points to the runbook for an event before the first position',
  async (word, { database }) => {
    await using side = await database.open();
    await side.pool.query(
      `insert into event_log.event (position, stream, version, id, type, data, metadata, bytes)
     select -1, stream, 2, gen_random_uuid(), type, data, metadata, bytes from event_log.event where stream = '${STREAM}'`,
    );
    const answered = await callLine(database.settings, ['audit', word, STREAM, '--version', '2', '--yes']);
    expect(answered, answered.complaint).toMatchObject({ exit: 0 });
    expect(answered.output).toContain('The event is at position -1, before the first of the log');
  },
);
