import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Registry } from 'prom-client';
import { publishing } from '#domain/publishing.ts';
import type { StreamName, UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { openAuthenticEvents } from '#shared/authentic-events/authentic-events.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import { openFolderBlobs } from '#shared/blobs/folder/folder-blobs.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { type ErasureList, openErasureList } from '#shared/erasure/erasure-list.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { type Codec, createCodec, type DecodedEvent } from '#shared/events/codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { type MasterKey, parseMasterKey } from '#shared/keys/master-key.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import type { Log } from '#shared/log.ts';
import type { Caller } from '#shared/policy.ts';
import { type Tables, tablesOf } from '#shared/read-model/tables.ts';
import { createSnapshots, type Snapshots } from '#shared/snapshots/snapshots.ts';
import type { WebhookRules } from '../../command/handling/handler.ts';
import { startCommandService } from '../../command/service.ts';
import { part } from '../../command/webhooks/part.ts';
import type { ArticleId, CommentId } from '../publishing-ids.ts';
import { temporaryDataDir } from './data-dir.ts';
import { inTheDatabase, type StartLog } from './log-engines.ts';
import { createMigratedDatabase } from './migrated-database.ts';
import { POLICY, SCOPES } from './policy.ts';

export type CommandSide = AsyncDisposable &
  CommandGateway & {
    readonly clock: Clock;
    readonly metrics: Registry;
    readonly eventLog: EventLog;
    readonly keys: KeyStore;
    readonly masterKey: MasterKey;
    readonly erasures: ErasureList;
    readonly auditDir: string;
    readonly codec: Codec;
    readonly snapshots: Snapshots;
    readonly domain: Domain;
    readonly tables: Tables;
    readonly pool: Pool;
    readonly databaseUrl: string;
    readonly blobs: Blobs;
    /** Their folder. */
    readonly uploads: string;
  };

type WrapLog = (log: EventLog) => EventLog;

type SideOptions = {
  readonly domain?: Domain;
  /** Makes another log of the real one, for tests in which it fails or waits. */
  readonly wrapLog?: WrapLog | undefined;
  readonly webhooks?: WebhookRules;
  readonly clock?: Clock;
  readonly log?: Log;
};

export type CommandDatabase = AsyncDisposable & {
  open(options?: SideOptions): Promise<CommandSide>;
  /** The settings with which a process joins it. */
  readonly settings: Readonly<Record<string, string>>;
};

type DatabaseOptions = {
  readonly startLog?: StartLog | undefined;
  readonly masterKey?: string | undefined;
  /** False for a log from before there were MACs. */
  readonly hasMacs?: boolean;
  /** By default with the tables of every domain. */
  readonly createDatabase?: () => Promise<AsyncDisposable & { readonly url: string }>;
};

const asItIs: WrapLog = (log) => log;

/** A database of its own, on which any number of command sides can be opened, like processes. */
export const createCommandDatabase = async (options: DatabaseOptions = {}): Promise<CommandDatabase> => {
  const { hasMacs = true } = options;
  await using starting = new AsyncDisposableStack();
  const database = starting.use(await (options.createDatabase ?? createMigratedDatabase)());
  const log = starting.use(await (options.startLog ?? inTheDatabase)());
  const dataDir = starting.use(await temporaryDataDir());
  const settings = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir.path,
    MASTER_KEY: options.masterKey ?? randomBytes(32).toString('base64'),
    ...(log.url !== undefined && { EVENT_LOG_URL: log.url }),
  };
  const masterKey = parseMasterKey(settings.MASTER_KEY);
  const uploads = join(dataDir.path, 'uploads');
  const started = starting.move();
  return {
    settings,
    async open({ domain = publishing, wrapLog = asItIs, clock = REAL_TIME, ...more } = {}) {
      await using opening = new AsyncDisposableStack();
      const pool = opening.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 8 }));
      const auditDir = join(dataDir.path, 'audit');
      const macs = { pool, masterKey, auditDir, clock: REAL_TIME, log: pino({ level: 'silent' }) };
      const authentic = hasMacs ? opening.use(openAuthenticEvents(macs)) : undefined;
      const eventLog = wrapLog(
        opening.use(await openEventLog({ url: log.url ?? database.url, clock: REAL_TIME, authentic })),
      );
      const keys = opening.use(await openPostgresKeyStore({ pool, masterKey }));
      const erasures = openErasureList(auditDir);
      const blobs = opening.use(await openFolderBlobs(uploads));
      const beside = { log: pino({ level: 'silent' }), metrics: createMetrics(), clock, ...more };
      const dependencies = { domain, pool, eventLog, keys, masterKey, erasures, blobs, ...beside };
      const service = opening.use(await startCommandService(dependencies, [part]));
      const resources = opening.move();
      return {
        send: service.send,
        domain,
        eventLog,
        keys,
        masterKey,
        erasures,
        auditDir,
        codec: createCodec({ keys, domain }),
        snapshots: createSnapshots({ pool, keys, masterKey, eventLog }),
        tables: tablesOf(domain),
        pool,
        databaseUrl: database.url,
        blobs,
        uploads,
        clock,
        metrics: beside.metrics,
        [Symbol.asyncDispose]: () => resources.disposeAsync(),
      };
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
};

export const system: Caller = { kind: 'system', name: 'test' };

export const as = (userId: number, role: Role = 'author', scopes: Iterable<string> = SCOPES): Caller => ({
  kind: 'user',
  policy: POLICY,
  userId: userId as UserId,
  role,
  scopes: new Set(scopes),
  client: 'test-client',
});

export const by = (caller: Caller, more: { idempotencyKey?: string; ifVersion?: number } = {}) =>
  ({ caller, requestId: randomUUID(), ...more }) as Parameters<CommandGateway['send']>[1];

export const registerUser = async (
  side: CommandGateway,
  { name = 'Ada', email = null as string | null, role = 'author' as Role } = {},
) => (await side.send({ type: 'RegisterUser', name, email, role }, by(system))).id as UserId;

export const draftArticle = async (side: CommandGateway, author: UserId, publish = true) =>
  (
    await side.send(
      { type: 'DraftArticle', title: 'On engines', body: '', tags: [], cover: null, publish },
      by(as(author)),
    )
  ).id as ArticleId;

export const addComment = async (side: CommandGateway, author: UserId, articleId: ArticleId) =>
  (await side.send({ type: 'AddComment', articleId, text: 'Well said.' }, by(as(author)))).id as CommentId;

/** A log on which a process dies: `dies` says whether before or after an append, or not at all. */
export const mortal =
  (dies: (stream: StreamName) => 'before' | 'after' | undefined) =>
  (log: EventLog): EventLog => ({
    ...log,
    async append(stream, expected, events, when) {
      const died = dies(stream);
      if (died === 'before') throw new Died();
      const appended = await log.append(stream, expected, events, when);
      if (died === 'after') throw new Died();
      return appended;
    },
  });

/** Simulates the end of a process: none of it continues. */
export class Died extends Error {}

/** The whole log so far, decoded. */
export const allEvents = async (side: CommandSide): Promise<readonly DecodedEvent[]> =>
  side.codec.decodeAll(await allRecorded(side));

/** The same as stored. */
export const allRecorded = async ({
  eventLog,
}: Pick<CommandSide, 'eventLog'>): Promise<readonly RecordedEvent[]> =>
  (await Array.fromAsync(readBetween(eventLog, { after: START, upTo: await eventLog.head() }))).flat();
