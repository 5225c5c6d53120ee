import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';

/** Where some of the texts are found: in a table, by its name, or in a file, by its path. */
export type Found = { readonly place: string; readonly text: string };

/**
 * Looks for texts in every row and column of every table of a database, in the samples that PostgreSQL keeps
 * of them, and in what those hold in bytes. Not in its files: what was deleted stays there until vacuum, and
 * in the write-ahead log until that is recycled.
 */
export const searchDatabase = (url: string, texts: readonly string[]): Promise<readonly Found[]> =>
  inDatabase(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', nspname, relname) as name from pg_class c join pg_namespace n on n.oid = relnamespace
       where relkind in ('r', 'm', 'S') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast') order by 1`,
    );
    const found: Found[] = [];
    for (const { name } of [...tables, { name: 'pg_stats' }]) {
      const { rows } = await client.query({
        text: `select * from ${name}`,
        rowMode: 'array',
        types: AS_TEXT,
      });
      for (const row of rows as (string | null)[][])
        for (const value of row) found.push(...hitsIn(name, value === null ? '' : readable(value), texts));
    }
    return unique(found);
  });

/**
 * For what works on the tables of a database of tests: those may say that nobody waits for a lock, such as
 * that of the server's own vacuum.
 */
export const inDatabase = <Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> =>
  onConnection(url, async (client) => {
    await client.query(`set lock_timeout = '30s'`);
    return await work(client);
  });

/**
 * For a connection on which nothing is set: one of a pooler is lent to others afterwards, and its own console
 * knows no settings.
 */
export const onConnection = async <Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

/** Every value as PostgreSQL writes it. */
const AS_TEXT = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig;

/** Bytes are written in hexadecimal digits. */
const readable = (value: string): string =>
  value.startsWith('\\x') ? Buffer.from(value.slice(2), 'hex').toString('latin1') : value;

/** Looks for texts in every file of a folder. */
export const searchFolder = async (folder: string, texts: readonly string[]): Promise<readonly Found[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: Found[] = [];
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found.push(...hitsIn(path, await readFile(path, 'latin1'), texts));
  }
  return unique(found);
};

export const hitsIn = (place: string, content: string, texts: readonly string[]): readonly Found[] =>
  texts
    .filter((text) => formsOf(text).some((form) => content.includes(form)))
    .map((text) => ({ place, text }));

/** As it is, and as part of a longer text in base64, wherever in that it begins. */
const formsOf = (text: string): readonly string[] => [
  text,
  ...[0, 1, 2].map((shift) => {
    const digits = Buffer.concat([Buffer.alloc(shift), Buffer.from(text)]).toString('base64');
    // The first and the last digits depend on what stands around it.
    return digits.slice(shift === 0 ? 0 : 4, -4);
  }),
];

const unique = (found: readonly Found[]): readonly Found[] => [
  ...new Map(found.map((each) => [`${each.place} ${each.text}`, each])).values(),
];
