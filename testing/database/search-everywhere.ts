import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';

/** A match: in a table, by its name, or in a file, by its path. */
export type Found = { readonly place: string; readonly text: string };

/** The places to search: all of them, unless an earlier search says where to look again. */
type IsSearched = (place: string) => boolean;
const everywhere: IsSearched = () => true;

/** In a value of PostgreSQL no text contains it, so that no match spans two values. */
const BETWEEN = '\0';

/**
 * Searches for texts in every row and column of every table of a database, in the samples that PostgreSQL
 * keeps of them, and in the bytes that those hold. Not in its files: deleted data stays there until vacuum,
 * and in the write-ahead log until that is recycled.
 */
export const searchDatabase = (
  url: string,
  texts: readonly string[],
  isSearched: IsSearched = everywhere,
): Promise<readonly Found[]> =>
  inDatabase(url, async (client) => {
    const search = searchFor(texts);
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', nspname, relname) as name from pg_class c join pg_namespace n on n.oid = relnamespace
       where relkind in ('r', 'm', 'S') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast') order by 1`,
    );
    const found: Found[] = [];
    for (const { name } of [...tables, { name: 'pg_stats' }]) {
      if (!isSearched(name)) continue;
      const { rows } = await client.query({
        text: `select * from ${name}`,
        rowMode: 'array',
        types: AS_TEXT,
      });
      for (const row of rows as (string | null)[][])
        found.push(...search(name, row.map((value) => readable(value ?? '')).join(BETWEEN)));
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
    // East of UTC, PostgreSQL prints the last day of the year 9999 as one of the year 10000.
    await client.query(`set lock_timeout = '30s'; set timezone = 'UTC'`);
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
export const searchFolder = async (
  folder: string,
  texts: readonly string[],
  isSearched: IsSearched = everywhere,
): Promise<readonly Found[]> => {
  const search = searchFor(texts);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: Found[] = [];
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    if (isSearched(path)) found.push(...search(path, await readFile(path, 'latin1')));
  }
  return unique(found);
};

export const hitsIn = (place: string, content: string, texts: readonly string[]): readonly Found[] =>
  searchFor(texts)(place, content);

/** The forms are computed once, not for each value. */
const searchFor = (texts: readonly string[]): ((place: string, content: string) => readonly Found[]) => {
  const wanted = texts.map((text) => ({ text, forms: formsOf(text) }));
  return (place, content) =>
    wanted
      .filter(({ forms }) => forms.some((form) => content.includes(form)))
      .map(({ text }) => ({ place, text }));
};

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
