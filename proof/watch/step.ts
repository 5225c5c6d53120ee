// Over 200 lines, because it is one step: a stretch of the chain with its rows, and the end of a round.

import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { headReaching } from '#shared/event-log/ask-again.ts';
import { StreamCut } from '#shared/event-log/errors.ts';
import { type EventLog, FIRST, type RecordedEvent } from '#shared/event-log/event-log.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { isOfThisRelease } from '#shared/projection/definition.ts';
import { untilAborted } from '#shared/projection/fill.ts';
import { computeDigestOn, readKeptDigest } from '#shared/projection/kept-digest.ts';
import type { Projection } from '#shared/projection/prepared.ts';
import { compareDerived, differenceOf, findRowsOfNoEvent } from '../derived/compare-derived.ts';
import { compareSchema, differenceOfSchema } from '../schema/compare-schema.ts';
import { headAt, readBlocks, readChainEnd } from '../stored/blocks.ts';
import { readHeadsAfter } from '../stored/signed-head.ts';
import { readAuditKeys } from '../stored/signing-keys.ts';
import { beginRound, type Difference, endRound, moveOn, readWatched, type Watched } from '../stored/watch.ts';
import { findUnreadEvents } from '../verify/find-unread-events.ts';
import { type Page, readLog } from '../verify/read-log.ts';
import { checkRowUnlessLeaving } from './check-rows.ts';
import { checkStretch } from './check-stretch.ts';
import { checkTree } from './check-tree.ts';

type WatchDependencies = Projection & {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: EventLog;
  /** Derives the salts of the tree. */
  readonly masterKey: MasterKey;
  /** The folder with the head of the tree. */
  readonly auditDir: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/** The progress and the findings of a step. */
type Step = {
  readonly events: number;
  readonly differences: readonly Difference[];
  readonly isEnd: boolean;
  /** Whether the round before ended at the same event, so that this one has found nothing new to verify. */
  readonly isStill?: true;
};

/**
 * Events are taken in stretches of this size, so that few statements verify many; a single block may have
 * more.
 */
const STRETCH_EVENTS = 100;
/** The streams whose rows are compared at the same time, and read in one statement for each table. */
const ROWS_AT_ONCE = 20;

/** Verifies the next few blocks, and at the end of the chain the digest of the read model. */
export const step = async (dependencies: WatchDependencies): Promise<Step> => {
  const { pool, eventLog } = dependencies;
  const watched = await goOn(pool, eventLog);
  const head = await headAt(pool, watched.count);
  // The chain was rebuilt meanwhile, and is shorter.
  if (!head) {
    await beginRound(pool, eventLog.identity);
    return { events: 0, differences: [], isEnd: false };
  }
  const blocks = await nextBlocks(pool, watched.count);
  const last = blocks.at(-1);
  if (!last) return finish(dependencies, watched);
  const pages = await readBetween(dependencies, watched.position, last.lastPosition);
  const events = pages.flatMap((page) => page.events);
  const heads = (await readHeadsAfter(pool, watched.count, last.count - watched.count)).filter(
    ({ count }) => count <= last.count,
  );
  const differences = [
    ...checkStretch({
      count: watched.count,
      head,
      blocks,
      events,
      heads,
      keys: heads.length > 0 ? await readAuditKeys(pool) : [],
    }),
    ...forgedAmong(events),
    ...(await checkDamage(pool, pages)),
    ...(await compareDerived(dependencies, { after: watched.position, upTo: last.lastPosition, events })).map(
      differenceOf,
    ),
  ];
  // Tables of another release have another projection.
  const begun = !(await isOfThisRelease(pool, dependencies.tables, LIVE_SCHEMA))
    ? []
    : events.filter(({ version }) => version === FIRST).map(({ stream }) => stream);
  for (let first = 0; first < begun.length && !dependencies.signal.aborted; first += ROWS_AT_ONCE) {
    const compared = begun.slice(first, first + ROWS_AT_ONCE);
    const found = compared.map((stream) =>
      checkRowUnlessLeaving(dependencies, stream).catch(differenceOfCut),
    );
    differences.push(...(await Promise.all(found)).flat());
  }
  if (dependencies.signal.aborted) return { events: 0, differences: [], isEnd: false };
  const isOurs = await moveOn(pool, watched, {
    to: { count: last.count, position: last.lastPosition },
    differences,
  });
  return { events: events.length, differences: isOurs ? differences : [], isEnd: false };
};

const differenceOfCut = (error: unknown): readonly Difference[] => {
  if (!(error instanceof StreamCut)) throw error;
  const { stream, lacks } = error;
  return [{ kind: 'stream_cut', position: null, stream, version: lacks.from, fields: [] }];
};

/** Resumes the present round; starts a new one for another log. */
const goOn = async (pool: Pool, { identity }: Pick<EventLog, 'identity'>): Promise<Watched> => {
  const watched = await readWatched(pool);
  const isUnderWay =
    watched &&
    watched.log === identity &&
    (watched.finishedAt === null || watched.finishedAt < watched.beganAt);
  return isUnderWay ? watched : beginRound(pool, identity);
};

const nextBlocks = async (pool: Pool, after: number) => {
  const { count: upTo } = await readChainEnd(pool);
  const next = await readBlocks(pool, { after, upTo }).next();
  const page = next.done ? [] : next.value;
  const enough = page.findIndex(({ count }) => count - after >= STRETCH_EVENTS);
  return enough === -1 ? page : page.slice(0, enough + 1);
};

/**
 * If events are missing in between, the hashes of the block differ. If the end of the log is missing, the log
 * would be followed for ever.
 */
const readBetween = async (
  { eventLog, codec, tables, signal }: WatchDependencies,
  after: Position,
  lastPosition: Position,
): Promise<readonly Page[]> => {
  const head = await headReaching(eventLog, lastPosition);
  const upTo = Math.min(head, lastPosition) as Position;
  if (upTo <= after) return [];
  return Array.fromAsync(readLog({ eventLog, codec, tables, signal, onHole() {} }, { after, upTo }));
};

/** Events that no command wrote; they are parked too. */
const forgedAmong = (events: readonly RecordedEvent[]): readonly Difference[] =>
  events.flatMap(({ notAuthentic, stream, version, position }) =>
    notAuthentic === undefined
      ? []
      : [{ kind: 'event_not_authentic', stream, version, position, fields: [] }],
  );

/** Reports unreadable events that are neither parked nor skipped by an operator. */
const checkDamage = async (pool: Pool, pages: readonly Page[]): Promise<readonly Difference[]> => {
  const damaged = pages.flatMap(({ prepared, damagedElsewhere }) => [
    ...prepared.damaged,
    ...damagedElsewhere,
  ]);
  if (damaged.length === 0) return [];
  const { rows } = await pool.query<{ stream: StreamName; version: Version; isParked: boolean }>(
    `select stream, version, true as "isParked" from ${LIVE_SCHEMA}.parked where stream = any($1)
     union all
     select stream, version, false from public.projection_skip where stream = any($1)`,
    [damaged.map(({ stream }) => stream)],
  );
  const isKnown = ({
    stream,
    version,
  }: {
    readonly stream: StreamName;
    readonly version: Version;
  }): boolean =>
    rows.some(
      (row) => row.stream === stream && (row.isParked ? row.version <= version : row.version === version),
    );
  return damaged
    .filter((event) => !isKnown(event))
    .map(({ stream, version, position }) => ({
      kind: 'event_unreadable',
      stream,
      version,
      position,
      fields: [],
    }));
};

/** Compares the tables with the digest that the projector keeps, and finds rows about no event. */
const finish = async (dependencies: WatchDependencies, watched: Watched): Promise<Step> => {
  const { pool } = dependencies;
  const fields = await otherThanKept(dependencies);
  const differences = [
    ...(fields.length === 0
      ? []
      : [{ kind: 'digest_different', stream: null, version: null, position: null, fields }]),
    ...(await findUnreadEvents(dependencies.eventLog)).map(({ type: _, ...unread }) => ({
      ...unread,
      fields: [],
    })),
    ...(await findRowsOfNoEvent(dependencies)).map(differenceOf),
    ...(await compareSchema(dependencies)).map(differenceOfSchema),
    ...(await checkTree(dependencies)),
  ];
  const isOurs = await moveOn(pool, watched, { to: watched, differences });
  if (isOurs) await endRound(pool, watched);
  const isStill =
    differences.length === 0 && watched.differences === 0 && watched.finishedCount === watched.count;
  return { events: 0, differences: isOurs ? differences : [], isEnd: true, ...(isStill && { isStill }) };
};

const otherThanKept = async ({ pool, tables, signal }: WatchDependencies): Promise<readonly string[]> => {
  if (!(await isOfThisRelease(pool, tables, LIVE_SCHEMA))) return [];
  const before = await readLive(pool);
  const fields = await inTransaction(pool, async (connection) => {
    await connection.query('set transaction isolation level repeatable read, read only');
    const kept = await readKeptDigest(connection);
    if (!kept) return [];
    const computed = await untilAborted({ pool, signal }, connection, () =>
      computeDigestOn(connection, tables, LIVE_SCHEMA),
    );
    return Object.entries(computed).flatMap(([table, digest]) =>
      kept.digests[table as keyof typeof computed] === digest ? [] : [table],
    );
  });
  // After a swap the name refers to other tables, of which an earlier snapshot sees only a part: the next
  // round compares them.
  return fields.length > 0 && (await readLive(pool)) === before ? fields : [];
};

/**
 * The schema that has the name of the live read model now: names are resolved at present, whatever a snapshot
 * sees.
 */
const readLive = async (pool: Pool): Promise<number | null> => {
  const { rows } = await pool.query<{ schema: number | null }>('select to_regnamespace($1)::oid as schema', [
    LIVE_SCHEMA,
  ]);
  return rows[0]?.schema ?? null;
};
