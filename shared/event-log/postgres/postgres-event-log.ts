import pg from 'pg';
import { isPassing, UNIQUE_VIOLATION } from '#shared/database/failures.ts';
import { migrate } from '#shared/database/migrate.ts';
import { openPool } from '#shared/database/pool.ts';
import { checkAppend } from '../check-append.ts';
import { StaleVersion } from '../errors.ts';
import { type Appended, type EventLog, FIRST } from '../event-log.ts';
import { appendBatch, findRepeat } from './append.ts';
import { PostgresBell } from './bell.ts';
import { follow } from './follow.ts';
import { GroupCommit, type ProposedAppend } from './group-commit.ts';
import { PATIENCE_MS, patiently } from './patiently.ts';
import { readHead, readIdentity, readStreamPages } from './read.ts';

const READ_CONNECTIONS_MAX = 4;

/** The event log in PostgreSQL: dense positions in the order of commits, group-committed appends. */
export const openPostgresEventLog = async ({ url }: { url: string }): Promise<EventLog> => {
  await using opening = new AsyncDisposableStack();
  const readers = opening.use(openPool({ url, applicationName: 'annals-log-read', connectionsMax: READ_CONNECTIONS_MAX }));
  await migrate(readers, 'event-log', new URL('./migrations/', import.meta.url));
  const identity = await readIdentity(readers);
  const writer = opening.use(openPool({ url, applicationName: 'annals-log-append', connectionsMax: 1 }));
  const bell = opening.use(new PostgresBell(url));
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
    async append(stream, expected, events) {
      const proposed = { stream, expected, events: checkAppend(stream, events) };
      return commits.append(proposed).catch((error: unknown) => answerRepeat(readers, proposed, error));
    },
    read: (stream, from) => readStreamPages(readers, stream, from ?? FIRST),
    follow: (after, signal) => follow({ pool: readers, bell }, after, signal),
    head: () => patiently(() => readHead(readers)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** A refused append may be the repeat of one that was stored, whose answer was lost. */
const answerRepeat = async (readers: pg.Pool, proposed: ProposedAppend, error: unknown): Promise<Appended> => {
  const isTaken = error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION;
  if (!isTaken && !(error instanceof StaleVersion)) throw error;
  const repeat = await patiently(() => findRepeat(readers, proposed));
  if (repeat) return repeat;
  throw isTaken ? new StaleVersion(proposed.stream, proposed.expected, { cause: error }) : error;
};
