import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { test as vitestTest } from 'vitest';
import type { EventId } from '#kernel/base/brands.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { type EventLog, NO_STREAM, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { startChain } from '../../proof/chain/follow-chain.ts';
import { type HeadFiles, headFilesIn } from '../../proof/heads/head-files.ts';
import { createPublisher } from '../../proof/heads/service.ts';
import { readChainEnd } from '../../proof/stored/blocks.ts';
import { until } from '../../testing/until.ts';
import { aStream } from '../contracts/event-log-engine.ts';
import { temporaryDataDir } from './data-dir.ts';
import { inTheDatabase, type StartLog } from './log-engines.ts';
import { createMigratedDatabase } from './migrated-database.ts';

/** A log with the tables of its proof, and a folder outside the database. */
export type AuditedLog = AsyncDisposable & {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly eventLog: EventLog;
  readonly masterKey: ReturnType<typeof parseMasterKey>;
  readonly auditDir: string;
  readonly files: HeadFiles;
  append(count: number): Promise<void>;
  startChain(onHead?: (note: string) => void): Promise<AsyncDisposable>;
  untilChained(): Promise<void>;
  /** Chains the log to its end, and signs the head. */
  prove(): Promise<void>;
  events(): Promise<readonly RecordedEvent[]>;
  /** Tampers: changes append-only data. */
  tamper(statement: string, values?: readonly unknown[]): Promise<void>;
};

const APPEND_ONLY = [
  'event_log.event',
  'audit.block',
  'audit.head',
  'audit.signing_key',
  'audit.tile',
  'audit.tree_head',
];

export const createAuditedLog = async (
  startLog: StartLog = inTheDatabase,
  clock: Clock = REAL_TIME,
): Promise<AuditedLog> => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createMigratedDatabase());
  const log = opening.use(await startLog());
  const pool = opening.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 8 }));
  const eventLog = opening.use(await openEventLog({ url: log.url ?? database.url, clock: REAL_TIME }));
  const auditDir = join(opening.use(await temporaryDataDir()).path, 'audit');
  await migrateAudit(pool);
  const masterKey = parseMasterKey(randomBytes(32).toString('base64'));
  const files = headFilesIn(auditDir);
  const chain = (onHead?: (note: string) => void) =>
    startChain({
      ...(onHead && { onHead }),
      pool,
      eventLog,
      masterKey,
      auditDir,
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
      clock,
    });
  const untilChained = async () => {
    const head = await eventLog.head();
    await until(
      () => readChainEnd(pool),
      ({ position }) => position >= head,
    );
  };
  const resources = opening.move();
  return {
    pool,
    clock,
    eventLog,
    masterKey,
    auditDir,
    files,
    startChain: chain,
    untilChained,
    async append(count) {
      for (let n = 0; n < count; n += 1) {
        const metadata = { at: new Date().toISOString() };
        await eventLog.append(aStream(), NO_STREAM, [
          { id: randomUUID() as EventId, type: 'thing.noted', data: { n }, metadata },
        ]);
      }
    },
    async prove() {
      {
        await using _chain = await chain();
        await untilChained();
      }
      await createPublisher({ pool, eventLog, masterKey, files, clock }).publish();
    },
    events: () => readWholeLog(eventLog),
    async tamper(statement, values = []) {
      const connection = await pool.connect();
      try {
        for (const table of APPEND_ONLY)
          await connection.query(`alter table ${table} disable trigger append_only`);
        await connection.query(statement, [...values]);
        for (const table of APPEND_ONLY)
          await connection.query(`alter table ${table} enable trigger append_only`);
      } finally {
        connection.release();
      }
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const readWholeLog = async (eventLog: EventLog): Promise<readonly RecordedEvent[]> => {
  const head = await eventLog.head();
  const events: RecordedEvent[] = [];
  if (head === START) return events;
  for await (const page of eventLog.follow(START, new AbortController().signal)) {
    events.push(...page);
    if ((events.at(-1)?.position ?? START) >= head) break;
  }
  return events;
};

const base = vitestTest
  .extend('startLog', { scope: 'file' }, () => inTheDatabase)
  // Writes the first events of the log.
  .extend(
    'fill',
    { scope: 'file' },
    () =>
      async (_audited: AuditedLog): Promise<void> => {},
  );

const openAudited = async (
  { fill, startLog }: { readonly fill: (audited: AuditedLog) => Promise<void>; readonly startLog: StartLog },
  { onCleanup }: { readonly onCleanup: (dispose: () => PromiseLike<void>) => void },
): Promise<AuditedLog> => {
  const audited = await createAuditedLog(startLog);
  onCleanup(() => audited[Symbol.asyncDispose]());
  await fill(audited);
  return audited;
};

/** An audited log for each file. */
export const test = base.extend('audited', { scope: 'file' }, openAudited);

/** An audited log for each test. */
export const freshTest = base.extend('audited', openAudited);
