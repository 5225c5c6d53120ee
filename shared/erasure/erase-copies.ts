import type { UserId } from '#kernel/base/brands.ts';
import type { Pool } from '../database/pool.ts';
import { inTransaction } from '../database/transaction.ts';
import { dropAbandoned } from '../read-model/scratch-schemas.ts';
import { type Copy, findCopies, type ReadModels } from './copies.ts';
import { withTable } from './found-tables.ts';

/** The time to wait for transactions that change its tables, while others queue behind. */
const OTHERS_MAX_MS = 10_000;

/**
 * Erases the personal data of some persons in all read models. The projector does that for the live one when
 * it applies their deletion, but nothing keeps some of the others up to date. The rest equals a replay
 * without their keys. Drops the leftovers of a killed verification as a whole. If one table cannot be erased,
 * erases all others and then throws.
 */
export const eraseInReadModels = async (
  { pool, tables }: ReadModels,
  userIds: readonly UserId[],
): Promise<void> => {
  if (userIds.length === 0) return;
  await dropAbandoned(pool);
  await eraseCopies(pool, await findCopies(pool, tables), userIds);
};

/** The same for one of them. */
export const eraseIn = async (
  { pool, tables }: ReadModels,
  schema: string,
  userIds: readonly UserId[],
): Promise<void> => {
  const copies = await findCopies(pool, tables);
  await eraseCopies(
    pool,
    copies.filter(({ table }) => table.schema === schema),
    userIds,
  );
};

const eraseCopies = async (
  pool: Pool,
  copies: readonly Copy[],
  userIds: readonly UserId[],
): Promise<void> => {
  const failures: { readonly name: string; readonly error: unknown }[] = [];
  for (const copy of copies) {
    const name = `${copy.table.schema}.${copy.table.name}`;
    await eraseCopy(pool, copy, userIds).catch((error: unknown) => void failures.push({ name, error }));
  }
  if (failures.length === 0) return;
  throw new AggregateError(
    failures.map(({ error }) => error),
    `Personal data is left in ${failures.map(({ name }) => name).join(', ')}.`,
    { cause: failures[0]?.error },
  );
};

const eraseCopy = (
  pool: Pool,
  { table, owners, isThere, erased }: Copy,
  userIds: readonly UserId[],
): Promise<unknown> =>
  withTable(pool, table, (name) =>
    inTransaction(
      pool,
      // Skips rows that the projector is writing, because waiting for each other could be a deadlock.
      (connection) =>
        connection.query(
          `update ${name} t set ${erased} from (
             select ctid from ${name} where (${owners.map((owner) => `${owner} = any($1)`).join(' or ')}) and (${isThere}) for update skip locked) found
           where t.ctid = found.ctid`,
          [userIds],
        ),
      `set local lock_timeout = ${OTHERS_MAX_MS}`,
    ),
  );
