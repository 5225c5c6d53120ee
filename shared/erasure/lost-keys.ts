import type { UserId } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { subjectOf } from '#shared/events/codec.ts';
import { hasLivingKey, selectWithoutKey } from '#shared/keys/postgres/statements.ts';
import type { ErasureList } from './erasure-list.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'follow' | 'head'>;
  readonly erasures: Pick<ErasureList, 'read'>;
};

/**
 * The persons with unreadable personal data in the log, though they were not erased: their keys are not in
 * this database. A key is stored before the first event sealed with it is appended, so nobody who is just
 * being registered is among them.
 */
export const findLostKeys = async (
  { pool, eventLog, erasures }: Dependencies,
  signal: AbortSignal,
): Promise<readonly UserId[]> => {
  const subjects = new Set<UserId>();
  for await (const events of readBetween(eventLog, { after: START, upTo: await eventLog.head() }, signal))
    for (const event of events) {
      const subject = subjectOf(event);
      if (subject !== null) subjects.add(subject);
    }
  signal.throwIfAborted();
  for (const { userId } of await erasures.read()) subjects.delete(userId);
  return selectWithoutKey(pool, [...subjects]).catch((error: unknown) => {
    // A database before its first start has no key.
    if (isUndefinedTable(error)) return [...subjects].sort((one, other) => one - other);
    throw error;
  });
};

/**
 * Refuses a start on a database without any key, though the log has persons: it is new, was emptied, or
 * belongs to another log. All of their aggregates would be parked.
 */
export const demandKeys = async (dependencies: Dependencies, signal: AbortSignal): Promise<void> => {
  if ((await dependencies.eventLog.head()) === START || (await hasLivingKey(dependencies.pool))) return;
  const { length } = await findLostKeys(dependencies, signal);
  if (length === 0) return;
  throw new StartRefused(
    `The event log has personal data of ${length === 1 ? 'one person' : `${length} persons`}, but this database has none of the keys: it is new, was emptied, ` +
      'or belongs to another log: set DATABASE_URL to the one that belongs to EVENT_LOG_URL, or restore its backup (docs/backup.md, ' +
      '“The database is lost, and the log is not”). If the keys are lost permanently, run `npm run annals -- erasure lost-keys --erase` to continue without these persons.',
  );
};
