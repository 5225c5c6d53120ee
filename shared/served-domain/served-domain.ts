import type { Domain } from '#kernel/registry/registry.ts';
import { isUndefinedTable } from '../database/failures.ts';
import { migrate } from '../database/migrate.ts';
import type { Pool } from '../database/pool.ts';
import { StartRefused } from '../process/start-refused.ts';

/**
 * Keeps in a database whose data it has from now on, and refuses another domain. One of before the name was
 * kept is taken for this domain’s.
 */
export const keepServedDomain = async (pool: Pool, { name }: Domain): Promise<void> => {
  await migrate(pool, 'served-domain', new URL('./', import.meta.url));
  // Looked at first, because a server that takes no writes just now has readers all the same.
  if ((await readServedDomain(pool)) === undefined)
    await pool.query('insert into public.served_domain (name) values ($1) on conflict do nothing', [name]);
  await demandServedDomain(pool, { name });
};

type Reading = Pick<Pool, 'query'>;

/** Refuses a domain whose data this is not. */
export const demandServedDomain = async (pool: Reading, { name }: Pick<Domain, 'name'>): Promise<void> => {
  const served = await readServedDomain(pool);
  if (served === undefined || served === name) return;
  throw new StartRefused(
    `The data here is of ${served}, and this is ${name}: set DOMAIN_FILE to the file of ${served}, or DATA_DIR or DATABASE_URL to where ${name} has data of its own. ` +
      `If ${served} is called ${name} from now on, \`npm run annals -- domain rename ${quoted(served)}\` says so.`,
  );
};

/** For a shell. */
const quoted = (name: string): string =>
  /^[\w-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;

/** Nothing before the first start, or where only a release started that did not keep it. */
export const readServedDomain = async (pool: Reading): Promise<string | undefined> => {
  try {
    const { rows } = await pool.query<{ name: string }>('select name from public.served_domain');
    return rows[0]?.name;
  } catch (error) {
    if (isUndefinedTable(error)) return undefined;
    throw error;
  }
};

/** Says under which name the domain goes on; answers whether the data was under the former one. */
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
