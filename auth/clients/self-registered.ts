import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { Rejection } from '#shared/rejection.ts';
import type { RecordSecurityEvent } from '../security-log.ts';
import { type By, circumstancesOf } from './by.ts';
import type { Queryable } from './client-table.ts';

/** Nobody vouches for clients that register themselves, so there may only be so many. */
const SELF_REGISTERED_MAX = 10_000;
/** How many make room at once; each takes an event, and one registration waits for all of them. */
const REMOVED_MAX = 100;

type Dependencies = { readonly pool: Pool; readonly record: RecordSecurityEvent };

/**
 * Where there are too many, the oldest that nobody has allowed anything make room, however young: else who fills the table keeps
 * everybody out for as long as they must be kept. Where there are none of those, it is refused.
 */
export const makeRoom = async ({ pool, record }: Dependencies, by: By): Promise<void> => {
  if ((await countSelfRegistered(pool)) < SELF_REGISTERED_MAX) return;
  await inTransaction(pool, async (connection) => {
    const removed = await deleteUnused(connection);
    if (removed.length === 0) throw new Rejection('conflict');
    for (const clientId of removed) await record({ type: 'client.deleted', data: { clientId } }, circumstancesOf(by));
  });
};

const countSelfRegistered = async (database: Queryable): Promise<number> => {
  const { rows } = await database.query<{ count: number }>('select count(*) from auth.client where self_registered');
  return rows[0]?.count ?? 0;
};

const deleteUnused = async (database: Queryable): Promise<readonly string[]> => {
  const { rows } = await database.query<{ clientId: string }>(
    `delete from auth.client where client_id in (
       select client_id from auth.client as old
       where self_registered and not exists (select from auth.record where record.client_id = old.client_id)
       order by created_at limit $1 for update skip locked)
     returning client_id as "clientId"`,
    [REMOVED_MAX],
  );
  return rows.map(({ clientId }) => clientId);
};
