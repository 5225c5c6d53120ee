import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';

/** A match: in a table, by its name, or in a file, by its path. */
export type Found = { readonly place: string; readonly text: string };

/**
 * Searches for texts in every row and column of every table of a database, in the samples that PostgreSQL
 * keeps of them, and in the bytes that those hold. Not in its files: deleted data stays there until vacuum,
 * and in the write-ahead log until that is recycled.
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
 * For code that changes tables of a test database directly: such a table may set `lock_timeout` to refuse
 * waiting, even for a lock of the server’s own vacuum.
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
 * For a connection without any settings: a pooler lends it to others afterwards, and its console knows no
 * settings.
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

/** Searches for texts in every file of a folder. */
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

/** The text itself, and as part of a longer text in base64, at any offset. */
const formsOf = (text: string): readonly string[] => [
  text,
  ...[0, 1, 2].map((shift) => {
    const digits = Buffer.concat([Buffer.alloc(shift), Buffer.from(text)]).toString('base64');
    // The first and the last digits depend on the bytes around it.
    return digits.slice(shift === 0 ? 0 : 4, -4);
  }),
];

const unique = (found: readonly Found[]): readonly Found[] => [
  ...new Map(found.map((each) => [`${each.place} ${each.text}`, each])).values(),
];
