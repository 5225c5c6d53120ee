import type { Clock } from '#shared/clock/clock.ts';
import { untilDisposed } from '#shared/clock/repeat.ts';
import { holdLock } from '#shared/database/held-lock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { Log } from '#shared/log.ts';
import { type GrantingTable, type Proven, provenColumns, type RowProofs } from './row-proofs.ts';

type Giving = {
  readonly pool: Pool;
  readonly rowProofs: Pick<RowProofs, 'of' | 'isRight' | 'upgrade'>;
  readonly tables: readonly AnyTable[];
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
};

// biome-ignore lint/suspicious/noExplicitAny: a table of any rows.
export type AnyTable = GrantingTable<any>;

const AGAIN_MS = 600_000;
const ROWS_MAX = 1_000;
const LOCK = 'annals row proofs';

/**
 * Begins the upgrade from a release without proofs, and gives proofs to its rows for as long as it lasts: its
 * processes may write rows beside this one. Until then such rows count without one.
 */
export const startGivingProofs = async (giving: Giving): Promise<AsyncDisposable> => {
  const { clock, log, rowProofs, pool, tables } = giving;
  await rowProofs.upgrade.begin(() => hasUnproven(pool, tables));
  return untilDisposed(async (signal) => {
    while (!signal.aborted && (await rowProofs.upgrade.isUnderWay())) {
      await giveProofs(giving, signal).catch((err: unknown) =>
        log.warn({ err }, 'Rows of an earlier release could not be given proofs; this is tried again.'),
      );
      await clock.sleep(AGAIN_MS, signal, { ref: false });
    }
  });
};

const hasUnproven = async (pool: Pool, tables: readonly AnyTable[]): Promise<boolean> => {
  const each = tables.map(({ name }) => `exists (select from ${name} where proof is null)`);
  const { rows } = await pool.query<{ isFound: boolean }>(`select ${each.join(' or ')} as "isFound"`);
  return rows[0]?.isFound === true;
};

type Proving = Pick<Giving, 'pool' | 'tables'> & { readonly rowProofs: Pick<RowProofs, 'of' | 'isRight'> };

/** Gives proofs to all rows that lack the right one, unless another process does so now. */
export const giveProofs = async (
  { pool, rowProofs, tables }: Proving,
  signal?: AbortSignal,
): Promise<void> => {
  await using alone = await holdLock(pool, 'hashtext($1)', LOCK);
  if (alone === undefined) return;
  for (const table of tables) {
    let after: unknown = null;
    do {
      after = await giveToSome(pool, { rowProofs, table, after });
    } while (after !== undefined && !signal?.aborted);
  }
};

type Batch = { readonly rowProofs: Proving['rowProofs']; readonly table: AnyTable; readonly after: unknown };

/** Returns the key of the last row, or undefined after all. Locks rows, so that no newer one gets an old proof. */
const giveToSome = (pool: Pool, { rowProofs, table, after }: Batch): Promise<unknown> =>
  inTransaction(pool, async (connection) => {
    const { name, keyType } = table;
    const key = table.columns[table.key];
    const { rows } = await connection.query<Proven & Record<string, unknown>>(
      `select ${provenColumns(table)} from ${name}
       where $1::${keyType} is null or ${key} > $1::${keyType} order by ${key} limit ${ROWS_MAX} for update`,
      [after],
    );
    const wrong = rows.filter((row) => !rowProofs.isRight(table, row));
    if (wrong.length > 0)
      await connection.query(
        `update ${name} set proof = given.proof
         from unnest($1::${keyType}[], $2::bytea[]) as given (key, proof) where ${name}.${key} = given.key`,
        [wrong.map((row) => row[table.key]), wrong.map((row) => rowProofs.of(table, row))],
      );
    return rows.length < ROWS_MAX ? undefined : rows.at(-1)?.[table.key];
  });
