import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isUndefinedTable } from '../database/failures.ts';
import { migrate } from '../database/migrate.ts';
import type { Pool } from '../database/pool.ts';

/**
 * Records the domain of a database, and refuses another one. A database without a record counts as this
 * domain’s.
 */
export const keepServedDomain = async (pool: Pool, { name }: Domain): Promise<void> => {
  await migrate(pool, 'served-domain', new URL('./', import.meta.url));
  // Reads first, because a read-only server may still have readers.
  if ((await readServedDomain(pool)) === undefined)
    await pool.query('insert into public.served_domain (name) values ($1) on conflict do nothing', [name]);
  await demandServedDomain(pool, { name });
};

type Reading = Pick<Pool, 'query'>;

/** Refuses a database of another domain. */
export const demandServedDomain = async (pool: Reading, { name }: Pick<Domain, 'name'>): Promise<void> => {
  const served = await readServedDomain(pool);
  if (served === undefined || served === name) return;
  throw new StartRefused(
    `The data belongs to the domain ${served}, but this is ${name}: set DOMAIN_FILE to the file of ${served}, or set DATA_DIR or DATABASE_URL to the data of ${name}. ` +
      `If ${served} was renamed to ${name}, run \`npm run annals -- domain rename ${quoted(served)}\`.`,
  );
};

/** For a shell. */
const quoted = (name: string): string =>
  /^[\w-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;

/** Undefined before the first start, or if only earlier releases ran, which did not record it. */
export const readServedDomain = async (pool: Reading): Promise<string | undefined> => {
  try {
    const { rows } = await pool.query<{ name: string }>('select name from public.served_domain');
    return rows[0]?.name;
  } catch (error) {
    if (isUndefinedTable(error)) return undefined;
    throw error;
  }
};

/** Records the new name of the domain; returns whether the database had the former one. */
export const renameServedDomain = async (
  pool: Reading,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<boolean> => {
  const { rowCount } = await pool.query(
    'update public.served_domain set name = $2, since = now() where name = $1',
    [from, to],
  );
  return rowCount === 1;
};
