import { isPassing } from '#shared/database/failures.ts';
import { migrate } from '#shared/database/migrate.ts';
import { openPool } from '#shared/database/pool.ts';
import { checkAppend } from '../check-append.ts';
import { type EventLog, FIRST } from '../event-log.ts';
import { appendBatch } from './append.ts';
import { PostgresBell } from './bell.ts';
import { follow } from './follow.ts';
import { GroupCommit } from './group-commit.ts';
import { readHead, readIdentity, readStreamPages } from './read.ts';

/** How long an append is tried again while the server is away. */
const APPEND_PATIENCE_MS = 10_000;
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
      patienceMs: APPEND_PATIENCE_MS,
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
    append: async (stream, expected, events) => commits.append({ stream, expected, events: checkAppend(stream, events) }),
    read: (stream, from) => readStreamPages(readers, stream, from ?? FIRST),
    follow: (after, signal) => follow({ pool: readers, bell }, after, signal),
    head: () => readHead(readers),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
