import pg from 'pg';
import type { LogIdentity } from '#shared/brands.ts';
import { type BellOptions, PostgresBell } from '#shared/database/bell/bell.ts';
import { demandWritable } from '#shared/database/demand-writable.ts';
import { isPassing, isUniqueViolation } from '#shared/database/failures.ts';
import { migrate } from '#shared/database/migrate.ts';
import { openPool } from '#shared/database/pool.ts';
import { checkAppend } from '../check-append.ts';
import { LogWentBack, StaleVersion } from '../errors.ts';
import { type Appended, type EventLog, FIRST } from '../event-log.ts';
import { appendBatch, findRepeat, LOST_HISTORY, VERSION_MAX } from './append.ts';
import { follow } from './follow.ts';
import { GroupCommit, type ProposedAppend } from './group-commit.ts';
import { PATIENCE_MS, patiently } from './patiently.ts';
import { createLogReader, readEventAt, readHead, readIdentity, readLost, readStreamPages } from './read.ts';

const READ_CONNECTIONS_MAX = 4;

/** With what the driver adds, well below `PATIENCE_MS`: a connection that has fallen silent leaves time for another try on the next. */
const STATEMENT_TIMEOUT_MS = 3_000;

/** The event log in PostgreSQL: dense positions in the order of commits, group-committed appends. */
export const openPostgresEventLog = async ({ url, directUrl }: Omit<BellOptions, 'channel'>): Promise<EventLog> => {
  await using opening = new AsyncDisposableStack();
  const { identity, lost } = await prepare(url);
  const within = { url, statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const readers = opening.use(openPool({ ...within, applicationName: 'annals-log-read', connectionsMax: READ_CONNECTIONS_MAX }));
  const writer = opening.use(openPool({ ...within, applicationName: 'annals-log-append', connectionsMax: 1 }));
  const bell = opening.use(new PostgresBell({ url, directUrl, channel: 'annals_event_log' }));
  const readLog = createLogReader(readers, bell);
  const commits = opening.use(
    new GroupCommit({
      isPassing,
      patienceMs: PATIENCE_MS,
      store: async (batch) => {
        const outcomes = await appendBatch(writer, batch);
        bell.ringEverywhere();
        return outcomes;
      },
    }),
  );
  const resources = opening.move();
  return {
    identity,
    lost,
    markLost: async ({ position, id }) => void (await readers.query(MARK_LOST, [identity, position, id])),
    isMarkedLost: async () => (await readLost(readers)).includes(identity),
    async append(stream, expected, events, seen) {
      const proposed = { stream, expected, events: checkAppend(stream, expected, events), seen };
      if (expected !== 'any' && expected > VERSION_MAX) throw new StaleVersion(stream, expected);
      return commits.append(proposed).catch((error: unknown) => answerRepeat(readers, proposed, error));
    },
    read: (stream, from) => readStreamPages(readers, stream, from ?? FIRST),
    follow: (after, signal, id) => follow({ readLog, bell }, after, signal, id),
    eventAt: (position) => patiently(() => readEventAt(readers, position)),
    head: () => patiently(() => readHead(readers)),
    check: () =>
      patiently(async () => {
        await readHead(readers);
        await demandWritable(readers, 'database of the event log');
      }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** Brings the tables up to date and says which log they hold. A migration may take longer than anything later. */
const prepare = async (url: string): Promise<{ readonly identity: LogIdentity; readonly lost: readonly LogIdentity[] }> => {
  await using pool = openPool({ url, applicationName: 'annals-log-migrate', connectionsMax: 1 });
  await migrate(pool, 'event-log', new URL('./migrations/', import.meta.url));
  return { identity: await readIdentity(pool), lost: await readLost(pool) };
};

/** One statement, so that the server that takes it is the primary, and looks for the event itself. */
const MARK_LOST = `insert into event_log.lost_history (log)
  select i.id from event_log.identity i
  where i.id = $1 and not exists (select from event_log.event e where e.position = $2 and e.id = $3)
  on conflict do nothing`;

/** A refused append may be the repeat of one that was stored, whose answer was lost. */
const answerRepeat = async (readers: pg.Pool, proposed: ProposedAppend, error: unknown): Promise<Appended> => {
  if (proposed.seen && error instanceof pg.DatabaseError && error.code === LOST_HISTORY)
    throw new LogWentBack(proposed.seen, await readEventAt(readers, proposed.seen.position));
  const isTaken = isUniqueViolation(error);
  if (!isTaken && !(error instanceof StaleVersion)) throw error;
  const repeat = await patiently(() => findRepeat(readers, proposed));
  if (repeat) return repeat;
  throw isTaken ? new StaleVersion(proposed.stream, proposed.expected, { cause: error }) : error;
};
