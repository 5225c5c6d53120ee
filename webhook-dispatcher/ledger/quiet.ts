import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';

/**
 * The position up to which the log was taken over from another installation: webhooks get nothing of that
 * part.
 */
export const readQuiet = async (connection: Connection, log: LogIdentity): Promise<Position> => {
  const { rows } = await connection.query<{ upTo: Position }>(
    'select up_to_position as "upTo" from webhook_ledger.quiet where log = $1',
    [log],
  );
  return rows[0]?.upTo ?? START;
};

/** `everything` while the end is unknown. */
export const writeQuiet = async (
  pool: Pool,
  log: LogIdentity,
  upTo: Position | 'everything',
): Promise<void> => {
  await pool.query(
    `insert into webhook_ledger.quiet (log, up_to_position) values ($1, $2)
     on conflict (only_row) do update set log = excluded.log, up_to_position = excluded.up_to_position`,
    [log, upTo === 'everything' ? Number.MAX_SAFE_INTEGER : upTo],
  );
};
