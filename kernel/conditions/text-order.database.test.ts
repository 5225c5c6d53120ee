import { expect, test } from 'vitest';
import { openPool } from '#shared/database/pool.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { line } from '../declare/fields.ts';
import type { Kind } from '../registry/registry.ts';
import { resolve } from './expression.ts';
import { holdsOf } from './holds.ts';
import { conditionSql, type SqlWriter } from './sql.ts';

const base = domain({ name: 'library', roles: ['member'] });
const book = base.aggregate('book', {
  fields: { title: line(10) },
  events: { bought: { creates: ['title'] } },
  commands: { buy: { emits: 'bought' } },
  rights: { read: { anyone: true } },
});
const library = assemble(base, [book]);

const AS_TEXT: SqlWriter<string> = {
  sql: (strings, ...holes) => String.raw({ raw: strings }, ...holes),
  name: (word) => word,
  constant: (value) => `'${value}'`,
  table: (name) => name,
  viewer: 'null',
  attribute: () => 'null',
};

const TITLES = ['A', 'B', 'a', 'b', 'ba', '\u00e9', '\uff5a', '\u{1f600}', '\u{1f601}'];

test('a bound of a text means the same in memory and in a database with the order of a language', async () => {
  await using database = await createDatabase();
  await using pool = openPool({ url: database.url, applicationName: 'text-order', connectionsMax: 1 });
  await pool.query('create table public.book (title text collate "und-x-icu")');
  await pool.query('insert into public.book select unnest($1::text[])', [TITLES]);
  const kind = library.kinds.book as Kind;
  for (const bound of TITLES)
    for (const word of ['min', 'max']) {
      const condition = resolve(library, kind, { title: { [word]: bound } });
      const where = conditionSql(AS_TEXT, condition, { domain: library, kind, row: 'book' });
      const { rows } = await pool.query<{ title: string }>(`select title from public.book where ${where}`);
      const inMemory = TITLES.filter((title) => holdsOf(condition)({ title }, null, () => undefined));
      expect(new Set(rows.map(({ title }) => title))).toEqual(new Set(inMemory));
    }
});
