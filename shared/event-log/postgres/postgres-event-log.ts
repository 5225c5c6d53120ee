// Over 200 lines, because it is one port: the event log, on the tables that it owns.
import pg from 'pg';
import type { EventId, LogIdentity, Position, Version } from '#kernel/base/brands.ts';
import type { AuthenticEvents } from '#shared/authentic-events/authentic-events.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { demandWritable } from '#shared/database/demand-writable.ts';
import { isPassing, isUniqueViolation } from '#shared/database/failures.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { NotifierOptions } from '#shared/database/notifier/postgres-notifier.ts';
import { openPool } from '#shared/database/pool.ts';
import { checkParts } from '../check-append.ts';
import { LogHole, LogWentBack, StaleVersion } from '../errors.ts';
import { type Appended, type EventLog, FIRST, type RecordedEvent, type Seen } from '../event-log.ts';
import { followTail, type TailFollower } from '../follow-tail.ts';
import { Tail, type TailPage } from '../tail.ts';
import { GroupCommit, type ProposedAppend } from './group-commit.ts';
import { LogNotifier } from './log-notifier.ts';
import { macsIn } from './macs-in.ts';
import {
  findEvent,
  type Reading,
  readAfter,
  readEventAt,
  readHead,
  readIdentity,
  readLost,
  readSome,
  readStreamPages,
} from './read.ts';
import { readBeforeStart } from './read-before-start.ts';
import { RETRY_BUDGET_MS, withRetries } from './retry.ts';
import { createReadStanding } from './standing.ts';
import { type Announce, announcing, storing } from './storing.ts';

const READ_CONNECTIONS_MAX = 4;

/**
 * With the driver’s addition, well below `RETRY_BUDGET_MS`: a silent connection leaves time for another attempt
 * on the next.
 */
const STATEMENT_TIMEOUT_MS = 3_000;

type Opening = Omit<NotifierOptions, 'channel'> & {
  /** Without it, appended events get no MAC, and no event needs one. */
  readonly authentic?: AuthenticEvents | undefined;
};

/** The event log in PostgreSQL: dense positions in the order of commits, group-committed appends. */
export const openPostgresEventLog = async ({
  url,
  directUrl,
  clock,
  authentic: events,
}: Opening): Promise<EventLog> => {
  await using opening = new AsyncDisposableStack();
  const { identity, lost } = await prepare(url);
  const within = { url, clock, statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const readers = opening.use(
    openPool({ ...within, applicationName: 'annals-log-read', connectionsMax: READ_CONNECTIONS_MAX }),
  );
  const writer = opening.use(
    openPool({ ...within, applicationName: 'annals-log-append', connectionsMax: 1 }),
  );
  const notifier = opening.use(new LogNotifier({ url, directUrl, channel: 'annals_event_log', clock }));
  const authentic = await events?.ofLog({ identity, ...macsIn(readers, clock) });
  const reading: Reading = { pool: readers, authentic };
  const tail = new Tail({
    clock,
    read: (after) => readAfter(reading, after),
    notified: () => notifier.notified,
    hasNews: (after, notified) => notifier.hasNews(after, notified),
    isListening: () => notifier.isListening,
  });
  const announce = announcing(notifier, clock);
  const commits = opening.use(
    new GroupCommit({
      clock,
      isPassing,
      retryBudgetMs: RETRY_BUDGET_MS,
      store: storing({ writing: { pool: writer, authentic }, tail, announce }),
    }),
  );
  const resources = opening.move();
  return {
    identity,
    lost,
    markLost: async (seen) =>
      void (await readers.query(MARK_LOST, [identity, seen?.position ?? null, seen?.id ?? null])),
    standing: createReadStanding(readers, identity),
    fencesReads: true,
    async append(stream, expected, events, when) {
      const beside = when?.also ?? [];
      const [own = [], ...others] = checkParts([
        [stream, expected, events],
        ...beside.map((part) => [part.stream, part.expected, part.events] as const),
      ]);
      const also = beside.map((part, index) => ({ ...part, events: others[index] ?? [] }));
      const proposed = { stream, expected, events: own, ...when, also };
      if (expected !== 'any' && expected > VERSION_MAX) throw new StaleVersion(stream, expected);
      return commits
        .append(proposed)
        .catch((error: unknown) => answerRepeat({ readers, clock, announce }, proposed, error));
    },
    read: (stream, from = FIRST, to = VERSION_MAX) =>
      readStreamPages(reading, stream, { from, to: Math.min(to, VERSION_MAX) as Version, clock }),
    find: (stream, id, after) => withRetries(() => findEvent(readers, { stream, id, after }), clock),
    follow: (after, signal, id) => follow({ tail, wait: waiting(notifier), demandSeen }, after, signal, id),
    page: async (after, max) =>
      wholeStart(after, await withRetries(() => readSome(reading, after, max), clock)),
    beforeStart: () => withRetries(() => readBeforeStart(reading), clock),
    eventAt: (position) => withRetries(() => readEventAt(readers, position), clock),
    head: () => withRetries(() => readHead(readers), clock),
    check: () =>
      withRetries(async () => {
        await readHead(readers);
        await demandWritable(readers, 'database of the event log');
      }, clock),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const waiting =
  (notifier: LogNotifier): TailFollower['wait'] =>
  (_after, notified, { timeoutMs, signal }) =>
    notifier.wait(notified, timeoutMs, signal);

/**
 * Updates the tables and returns the identity of the log. A migration may take longer than any later
 * statement.
 */
const prepare = async (
  url: string,
): Promise<{ readonly identity: LogIdentity; readonly lost: readonly LogIdentity[] }> => {
  await using pool = openPool({ url, applicationName: 'annals-log-migrate', connectionsMax: 1 });
  await migrate(pool, 'event-log', new URL('./migrations/', import.meta.url));
  return { identity: await readIdentity(pool), lost: await readLost(pool) };
};

/** The maximum of the column: no stream is ever at a higher version. */
const VERSION_MAX = (2 ** 31 - 1) as Version;

/** One statement, so that the server that executes it is the primary, and checks for the event itself. */
const MARK_LOST = `insert into event_log.lost_history (log)
  select i.id from event_log.identity i
  where i.id = $1 and not exists (select from event_log.event e where e.position = $2::bigint and e.id = $3::uuid)
  on conflict do nothing`;

/** The error that the append raises if the log has lost the seen event. */
const LOST_HISTORY = 'AN001';

/** A refused append may be the repeat of a stored one whose response was lost. */
const answerRepeat = async (
  {
    readers,
    clock,
    announce,
  }: { readonly readers: pg.Pool; readonly clock: Clock; readonly announce: Announce },
  proposed: ProposedAppend,
  error: unknown,
): Promise<Appended> => {
  // All parts of an append were stored together, so that its own part shows the others.
  if (proposed.seen && error instanceof pg.DatabaseError && error.code === LOST_HISTORY)
    throw new LogWentBack(proposed.seen, await readEventAt(readers, proposed.seen.position));
  const isTaken = isUniqueViolation(error);
  if (!isTaken && !(error instanceof StaleVersion)) throw error;
  const repeat = await withRetries(() => findRepeat(readers, proposed), clock);
  if (repeat) {
    // The process that stored it may not have told anybody.
    announce(repeat.position);
    return repeat;
  }
  throw isTaken ? new StaleVersion(proposed.stream, proposed.expected, { cause: error }) : error;
};

const FIND_REPEAT = {
  name: 'event-log-find-repeat',
  text: `select count(*)::integer as events, min(version) as first, max(version) as version, max(position) as position
    from event_log.event where stream = $1 and id = any($2::uuid[])`,
};

type Repeat = { events: number; first: Version | null; version: Version; position: Position };

/**
 * The result of an append that was stored before: all of its events are in the stream, one after the other.
 */
const findRepeat = async (
  pool: pg.Pool,
  { stream, events }: ProposedAppend,
): Promise<Appended | undefined> => {
  const { rows } = await pool.query<Repeat>({ ...FIND_REPEAT, values: [stream, events.map(({ id }) => id)] });
  const [found] = rows;
  if (
    !found ||
    found.first === null ||
    found.events !== events.length ||
    found.version - found.first + 1 !== events.length
  )
    return undefined;
  return { version: found.version, position: found.position };
};

/**
 * Follows the log; a hole in it is damage, because positions are dense. Yields the events before a hole. Each
 * read shows that the log still has the event before it.
 */
async function* follow(
  follower: TailFollower,
  after: Position,
  signal: AbortSignal,
  id?: EventId,
): AsyncGenerator<readonly RecordedEvent[]> {
  let last = after;
  for await (const events of followTail(follower, { after, signal, id })) {
    const whole = wholePart(last, events);
    last = whole.at(-1)?.position ?? last;
    if (whole.length > 0) yield whole;
    const [hole] = events.slice(whole.length);
    if (hole) throw new LogHole({ after: last, found: hole.position });
  }
}

/** The events before a hole, which the next read then meets. */
const wholeStart = (after: Position, events: readonly RecordedEvent[]): readonly RecordedEvent[] => {
  const whole = wholePart(after, events);
  const [hole] = events.slice(whole.length);
  if (hole && whole.length === 0) throw new LogHole({ after, found: hole.position });
  return whole;
};

const demandSeen = (seen: Seen, { at }: TailPage): void => {
  if (at?.id !== seen.id) throw new LogWentBack(seen, at?.id);
};

const wholePart = (after: Position, events: readonly RecordedEvent[]): readonly RecordedEvent[] => {
  const end = events.findIndex(({ position }, index) => position !== after + index + 1);
  return end === -1 ? events : events.slice(0, end);
};
