import type { LogIdentity } from '#kernel/base/brands.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

/** An installation, as the identity of its event log names it. */
export type LogOwner = {
  /** Undefined before its first start: it begins no log then. */
  readonly id: string | undefined;
  /** The log that its database follows already. */
  readonly follows: LogIdentity | undefined;
  /** Its operator has decided that the database of the owner of this log is lost. */
  readonly takesOver?: LogIdentity | undefined;
  /** Writes nothing about owners, and may look at the log of another one. */
  readonly looksOnly?: boolean;
  /** The process opens a copy beside its log. */
  readonly isOfCopy?: boolean;
};

/** The owner that a database is. A copy of the database is the same one. */
export const keepLogOwner = async (pool: Pool): Promise<LogOwner> => {
  await migrate(pool, 'event-log-owner', new URL('./', import.meta.url));
  // Reads first, because a read-only server may still have readers.
  const known = await readLogOwner(pool);
  if (known.id !== undefined) return known;
  await pool.query('insert into public.event_log_owner default values on conflict do nothing');
  return readLogOwner(pool);
};

/** The same, without a trace in the database. */
export const readLogOwner = async (pool: Pick<Pool, 'query'>): Promise<LogOwner> => ({
  id: (await firstOf<{ id: string }>(pool, 'select id from public.event_log_owner'))?.id,
  follows: (
    await firstOf<{ log: LogIdentity }>(
      pool,
      'select log from public.follower_checkpoint order by log limit 1',
    )
  )?.log,
});

const firstOf = async <Row extends object>(
  pool: Pick<Pool, 'query'>,
  statement: string,
): Promise<Row | undefined> => {
  try {
    return (await pool.query<Row>(statement)).rows[0];
  } catch (error) {
    if (isUndefinedTable(error)) return undefined;
    throw error;
  }
};
