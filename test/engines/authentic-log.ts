import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test as base } from 'vitest';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { storeMetadata } from '#kernel/base/events/metadata.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { type AuthenticEvents, openAuthenticEvents } from '#shared/authentic-events/authentic-events.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import type { EventLog, NewEvent } from '#shared/event-log/event-log.ts';
import { type MasterKey, parseMasterKey } from '#shared/keys/master-key.ts';
import { temporaryDataDir } from './data-dir.ts';
import { createDatabase } from './database.ts';
import { inTheDatabase, type StartLog } from './log-engines.ts';

type Line = readonly [about: unknown, message?: string];

/** Keeps what a process logs. */
type TestLog = {
  readonly errors: Line[];
  readonly warnings: Line[];
  info(): void;
  warn(...line: Line): void;
  error(...line: Line): void;
};

const createTestLog = (): TestLog => {
  const errors: Line[] = [];
  const warnings: Line[] = [];
  return {
    errors,
    warnings,
    info() {},
    warn: (...line) => void warnings.push(line),
    error: (...line) => void errors.push(line),
  };
};

/** A log whose events have MACs, with what says since when. */
export type AuthenticPlace = AsyncDisposable & {
  readonly pool: Pool;
  readonly databaseUrl: string;
  readonly auditDir: string;
  readonly masterKey: MasterKey;
  /** Of the log; undefined if it is in the database. */
  readonly url: string | undefined;
  readonly lines: TestLog;
  /** Opens the log, as a process does. */
  open(options?: OpenOptions): Promise<OpenedPlace>;
  /** Opens it as a release without MACs does. */
  openFormer(): Promise<EventLog>;
  /** Changes append-only rows, as somebody with SQL can. */
  tamper(statement: string, values?: readonly unknown[]): Promise<void>;
};

type OpenedPlace = AsyncDisposable & {
  readonly eventLog: EventLog;
  readonly authentic: AuthenticEvents;
};

type OpenOptions = {
  readonly clock?: Clock;
  readonly masterKey?: string;
  readonly auditDir?: string;
  readonly isReader?: boolean;
  readonly mayBeginAnew?: boolean;
};

export const createAuthenticPlace = async (startLog: StartLog = inTheDatabase): Promise<AuthenticPlace> => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const log = opening.use(await startLog());
  const pool = opening.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 4 }));
  const auditDir = join(opening.use(await temporaryDataDir()).path, 'audit');
  const key = randomBytes(32).toString('base64');
  const lines = createTestLog();
  const url = () => log.url ?? database.url;
  const resources = opening.move();
  return {
    ...{ pool, databaseUrl: database.url, auditDir, url: log.url, lines, masterKey: parseMasterKey(key) },
    async open({ clock = REAL_TIME, masterKey = key, ...options } = {}) {
      await using inner = new AsyncDisposableStack();
      const authentic = inner.use(
        openAuthenticEvents({
          ...{ pool, auditDir, clock, log: lines, masterKey: parseMasterKey(masterKey), ...options },
        }),
      );
      const eventLog = inner.use(await openEventLog({ url: url(), clock: REAL_TIME, authentic }));
      const opened = inner.move();
      return { eventLog, authentic, [Symbol.asyncDispose]: () => opened.disposeAsync() };
    },
    openFormer: () => openEventLog({ url: url(), clock: REAL_TIME }),
    async tamper(statement, values = []) {
      const connection = await pool.connect();
      try {
        await connection.query('alter table event_log.event disable trigger append_only');
        await connection.query(statement, [...values]);
        await connection.query('alter table event_log.event enable trigger append_only');
      } finally {
        connection.release();
      }
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** A place for each test. */
export const test = base
  .extend('startLog', { scope: 'file' }, () => inTheDatabase)
  .extend('place', async ({ startLog }, { onCleanup }) => {
    const place = await createAuthenticPlace(startLog);
    onCleanup(() => place[Symbol.asyncDispose]());
    return place;
  });

/** An event with all fields that commands write. */
export const ourEvent = (data: NewEvent['data'] = { n: 1 }, type = 'thing.noted'): NewEvent => ({
  ...{ id: randomUUID() as EventId, type, data },
  metadata: storeMetadata(1, {
    ...{ at: '2026-11-21T10:15:00.000Z', actor: 'user:1', client: null },
    ...{ request: 'r', correlation: 'r', causation: null },
  }),
});

export const thing = (): StreamName => `thing-${randomUUID()}` as StreamName;

/** MACs for the logs of one test file, in a database. */
export const openMacs = async (url: string): Promise<AuthenticEvents> => {
  await using opening = new AsyncDisposableStack();
  const pool = opening.use(openPool({ url, applicationName: 'test', connectionsMax: 1 }));
  const masterKey = parseMasterKey(randomBytes(32).toString('base64'));
  const macs = opening.use(openAuthenticEvents({ pool, masterKey, clock: REAL_TIME, log: createTestLog() }));
  const resources = opening.move();
  return { ...macs, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};
