import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What the migrations make: tables that name no schema, which are in `public`, and schemas with all that they hold. */
export type OwnNames = { readonly tables: readonly string[]; readonly schemas: readonly string[] };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MIGRATIONS = '*/**/[0-9][0-9][0-9][0-9]-*.sql';
const LEFT_OUT = /(?:^|\/)(?:node_modules|test|bench)$/;

/** The migrations of all components, or of those below a folder, by their paths from the root. */
export const listMigrations = async (folder = '.'): Promise<readonly string[]> => {
  const files = glob(MIGRATIONS, { cwd: join(ROOT, folder), exclude: (path) => LEFT_OUT.test(path) });
  return (await Array.fromAsync(files)).map((file) => join(folder, file)).toSorted();
};

const TABLE = /^create (?:unlogged )?table (?:if not exists )?(\w+)(?=\s|\()/gm;
const SCHEMA = /^create schema (?:if not exists )?(\w+)/gm;

export const readOwnNames = async (folder?: string): Promise<OwnNames> => {
  const sql = await Promise.all((await listMigrations(folder)).map((file) => readFile(join(ROOT, file), 'utf8')));
  const named = (pattern: RegExp) => [...new Set(sql.flatMap((text) => [...text.matchAll(pattern)].flatMap(([, name]) => name ?? [])))];
  return { tables: named(TABLE), schemas: named(SCHEMA) };
};
