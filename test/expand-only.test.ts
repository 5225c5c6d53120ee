import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { listMigrations } from '#shared/database/usable.ts';
import { readDefinition } from '#shared/projection/definition.ts';
import { tablesOf as tablesOfDomain } from '#shared/read-model/tables.ts';
import packageJson from '../package.json' with { type: 'json' };
import { disturbances, tablesOf } from './expand-only.ts';
import { PREVIOUS_RELEASE } from './previous-release.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const files = await listMigrations();

test('no migration breaks processes that do not know it', async () => {
  expect(files.length).toBeGreaterThan(20);
  const components = Map.groupBy(files, dirname);
  const found = [...components.values()].map((each) =>
    disturbances(
      each.map((name) => ({ name, sql: read(name) })),
      packageJson.version,
    ),
  );
  expect((await Promise.all(found)).flat()).toEqual([]);
});

const before = {
  name: '1',
  sql: `create table thing (id int primary key constraint "is right" check (id > 0), name varchar(9), note text, constraint no_check unique (note));
        alter table thing add constraint named check (name > '')`,
};

test.each([
  ['drop table thing', 'has a DropStmt'],
  ['alter table thing rename to object', 'has a RenameStmt'],
  ['alter table thing rename column note to remark', 'has a RenameStmt'],
  ['alter table thing set schema other', 'has a AlterObjectSchemaStmt'],
  ['alter table thing drop column note', 'alters thing.note (DropColumn)'],
  ['alter table thing alter column name type varchar(5)', 'alters thing.name (AlterColumnType)'],
  ['alter table thing alter column name type text', 'alters thing.name (AlterColumnType)'],
  ['alter table thing alter column note set not null', 'alters thing.note (SetNotNull)'],
  ['alter table thing alter column note drop not null', 'alters thing.note (DropNotNull)'],
  ['alter table thing add column more int not null', 'adds thing.more'],
  ['alter table thing add column more int unique', 'adds thing.more'],
  ['alter table thing add column more int default 1 check (more > 0)', 'adds thing.more'],
  ['alter table thing add constraint one unique (note)', 'alters thing (AddConstraint)'],
  ['alter table thing add check (id > 0)', 'alters thing (AddConstraint)'],
  ['alter table thing drop constraint no_check', 'alters thing.no_check (DropConstraint)'],
  ['create unique index on thing (note)', 'makes unique what is in thing'],
  ['create trigger t before update on thing execute function f()', 'has a trigger on thing'],
  ["create or replace function f() returns int language sql as 'select 1'", 'replaces a function'],
  ["update thing set note = ''", 'changes what is in thing.note'],
  ['insert into thing values (1)', 'adds rows to thing'],
  ['delete from thing', 'has a DeleteStmt'],
  ['truncate thing', 'has a TruncateStmt'],
  ["do $$ begin execute 'drop table thing'; end $$", 'has a DoStmt'],
  ['create table other (id int); drop table thing', 'has a DropStmt'],
  ['create table other (thing int references thing)', 'keeps rows of thing'],
  ['create table other (thing int, foreign key (thing) references thing)', 'keeps rows of thing'],
  ['-- Unused since 0.3.0\ndrop table thing', 'takes away what is unused since 0.3.0'],
  ['-- Unused since 0.10.0\ndrop table thing', 'takes away what is unused since 0.10.0'],
])('%s is found', async (sql, found) => {
  expect(await disturbances([before, { name: '2', sql }], '0.3.0')).toEqual([
    expect.stringContaining(`2 ${found}`),
  ]);
});

test.each([
  'create table other (id int primary key); create unique index on other (id); alter table other drop column id; insert into other values (1)',
  'alter table thing add column more int, add column most int not null default 1; update thing set more = 1; create index on thing (more)',
  'alter table thing alter column name type varchar(9), alter column name set statistics 0',
  'alter table thing drop constraint thing_name_check',
  'alter table thing drop constraint named, drop constraint "is right"',
  "create function g() returns int language sql as 'select 1'",
  '-- Unused since 0.2.0, which reads remarks instead.\nalter table thing drop column note',
])('%s breaks nothing', async (sql) => {
  expect(await disturbances([before, { name: '2', sql }], '0.3.0')).toEqual([]);
});

test('the read model has everything that the previous release reads', async ({ skip }) => {
  const { stdout, status } = spawnSync('git', ['show', `${PREVIOUS_RELEASE}:projector/read-model.sql`], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  skip(status !== 0, `${PREVIOUS_RELEASE} is not in this checkout`);
  const today = await tablesOf((await readDefinition(tablesOfDomain(publishing))).tables);
  for (const [table, columns] of await tablesOf(stdout))
    expect(Object.fromEntries(today.get(table) ?? [])).toMatchObject(Object.fromEntries(columns));
});
