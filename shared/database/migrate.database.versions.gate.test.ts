import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { createDatabase } from '../../test/engines/database.ts';
import { MigrationMismatch, migrate } from './migrate.ts';
import { openPool } from './pool.ts';

const FIRST = { '0001-thing.sql': 'create table thing (id int primary key);' };
const SECOND = { ...FIRST, '0002-more.sql': 'insert into thing values (1); insert into thing values (2);' };

const openFixture = async () => {
  const resources = new AsyncDisposableStack();
  const database = resources.use(await createDatabase());
  const pool = resources.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 8 }));
  const root = await mkdtemp(join(tmpdir(), 'annals-migrations-'));
  resources.defer(() => rm(root, { recursive: true }));
  let folders = 0;
  const folder = async (files: Record<string, string>): Promise<URL> => {
    folders += 1;
    const path = join(root, String(folders));
    await mkdir(path);
    for (const [name, sql] of Object.entries(files)) await writeFile(join(path, name), sql);
    return pathToFileURL(`${path}/`);
  };
  return { pool, folder, url: database.url, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

test('every migration is applied once, in order, and recorded', async () => {
  await using fixture = await openFixture();
  await migrate(fixture.pool, 'things', await fixture.folder(FIRST));
  await migrate(fixture.pool, 'things', await fixture.folder(SECOND));
  await migrate(fixture.pool, 'things', await fixture.folder(SECOND));
  const { rows } = await fixture.pool.query(
    'select component, number, name, length(checksum) as digits from public.annals_migration order by number',
  );
  expect(rows).toEqual([
    { component: 'things', number: 1, name: 'thing', digits: 64 },
    { component: 'things, added', number: 2, name: 'more', digits: 64 },
  ]);
  expect((await fixture.pool.query('select count(*) from public.thing')).rows).toEqual([{ count: 2 }]);
});

test('each component has its own numbers', async () => {
  await using fixture = await openFixture();
  await migrate(fixture.pool, 'things', await fixture.folder(FIRST));
  await migrate(
    fixture.pool,
    'others',
    await fixture.folder({ '0001-other.sql': 'create table other (id int);' }),
  );
  expect((await fixture.pool.query('select count(*) from public.annals_migration')).rows).toEqual([
    { count: 2 },
  ]);
});

test('of several concurrent processes one applies each migration', async () => {
  await using fixture = await openFixture();
  const folder = await fixture.folder(SECOND);
  const starts = Array.from({ length: 6 }, async () => {
    await using pool = openPool({ url: fixture.url, applicationName: 'test', connectionsMax: 1 });
    await migrate(pool, 'things', folder);
  });
  await Promise.all(starts);
  expect((await fixture.pool.query('select count(*) from public.thing')).rows).toEqual([{ count: 2 }]);
});

test('a failing migration leaves no trace and is retried', async () => {
  await using fixture = await openFixture();
  const broken = {
    ...FIRST,
    '0002-more.sql': 'insert into thing values (1); insert into nowhere values (2);',
  };
  await expect(migrate(fixture.pool, 'things', await fixture.folder(broken))).rejects.toThrow('nowhere');
  expect((await fixture.pool.query('select count(*) from public.thing')).rows).toEqual([{ count: 0 }]);
  await migrate(fixture.pool, 'things', await fixture.folder(SECOND));
  expect((await fixture.pool.query('select count(*) from public.thing')).rows).toEqual([{ count: 2 }]);
});

test('a migration that was changed after it was applied is refused', async () => {
  await using fixture = await openFixture();
  await migrate(fixture.pool, 'things', await fixture.folder(FIRST));
  const changed = migrate(
    fixture.pool,
    'things',
    await fixture.folder({ '0001-thing.sql': 'create table thing (id bigint);' }),
  );
  await expect(changed).rejects.toThrow(MigrationMismatch);
  await expect(changed).rejects.toThrow('things 0001-thing was changed after it was applied');
});

test('migrations by which a newer version only adds, or which this version no longer uses, are ignored', async () => {
  await using fixture = await openFixture();
  const unused = { ...SECOND, '0003-less.sql': '-- Unused since 0.0.1: nobody reads it.\ndrop table thing' };
  await migrate(fixture.pool, 'things', await fixture.folder(unused));
  await migrate(fixture.pool, 'things', await fixture.folder(FIRST));
  expect((await fixture.pool.query('select max(number) as last from public.annals_migration')).rows).toEqual([
    { last: 3 },
  ]);
});

test('a database is refused if a newer version has removed anything that this one needs', async () => {
  await using fixture = await openFixture();
  const contracted = {
    ...FIRST,
    '0002-less.sql': '-- Unused since 999.10.0: nobody reads it.\ndrop table thing',
  };
  await migrate(fixture.pool, 'things', await fixture.folder(contracted));
  await expect(migrate(fixture.pool, 'things', await fixture.folder(FIRST))).rejects.toThrow(
    /things 0002-less, which removes tables or columns that Annals .+ needs: start 999\.10\.0 or a newer one/,
  );
});

test('the first release, which refuses unknown migrations, sees only those that remove something', async () => {
  await using fixture = await openFixture();
  const shown = async () =>
    (
      await fixture.pool.query<{ number: number }>(
        `select number from public.annals_migration where component = 'things' order by 1`,
      )
    ).rows.map(({ number }) => number);
  await migrate(fixture.pool, 'things', await fixture.folder(SECOND));
  expect(await shown()).toEqual([1]);
  const contracted = {
    ...SECOND,
    '0003-less.sql': '-- Unused since 0.0.1: nobody reads it.\ndrop table thing',
  };
  await migrate(fixture.pool, 'things', await fixture.folder(contracted));
  expect(await shown()).toEqual([1, 3]);
});

test('migrations recorded by an earlier release are known', async () => {
  await using fixture = await openFixture();
  await migrate(fixture.pool, 'things', await fixture.folder(FIRST));
  await fixture.pool.query('alter table public.annals_migration drop column unused_since');
  await migrate(fixture.pool, 'things', await fixture.folder(FIRST));
  await migrate(fixture.pool, 'things', await fixture.folder(SECOND));
  expect((await fixture.pool.query('select count(*) from public.thing')).rows).toEqual([{ count: 2 }]);
});

test.each([
  ['a gap', { '0001-a.sql': 'select 1', '0003-c.sql': 'select 1' }],
  ['a number used twice', { '0001-a.sql': 'select 1', '0001-b.sql': 'select 1' }],
  ['a name that says no number', { 'a.sql': 'select 1' }],
])('%s among the files is refused before anything is applied', async (_, files) => {
  await using fixture = await openFixture();
  await expect(migrate(fixture.pool, 'things', await fixture.folder(files))).rejects.toThrow(
    'numbered without gaps',
  );
});

test('a migration may take longer than the timeout of statements', async () => {
  await using fixture = await openFixture();
  await using pool = openPool({
    url: fixture.url,
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 100,
  });
  await migrate(
    pool,
    'things',
    await fixture.folder({ '0001-slow.sql': 'create table slow (id int); select pg_sleep(1.5);' }),
  );
  expect((await pool.query('select count(*) from public.slow')).rows).toEqual([{ count: 0 }]);
});
