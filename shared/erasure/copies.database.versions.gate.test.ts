// Over 200 lines, because every copy is erased from the one database whose read model is filled here.
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { holdLock } from '#shared/database/held-lock.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { START } from '#shared/event-log/event-log.ts';
import { digestOf } from '#shared/projection/digest.ts';
import { rebuild } from '#shared/projection/rebuild.ts';
import { LOCK_OF, type Mark, textOf } from '#shared/read-model/scratch-schemas.ts';
import { createFoldTables } from '../../proof/verify/fold-tables.ts';
import { createFilledReadModel, type FilledReadModel } from '../../test/engines/filled-read-model.ts';
import { inTheDatabase } from '../../test/engines/log-engines.ts';
import { replayed } from '../../test/engines/projection.ts';
import { tables } from '../../test/engines/tables.ts';
import { searchDatabase } from '../../testing/database/search-everywhere.ts';
import { until } from '../../testing/until.ts';
import { applyErasures } from './apply.ts';
import { readModels } from './copies.ts';
import { countInReadModels } from './count-copies.ts';
import { eraseInReadModels } from './erase-copies.ts';
import { findTables, withTable } from './found-tables.ts';
import { countLeft } from './report.ts';

let readModel: FilledReadModel;
let one: UserId;
let other: UserId;
beforeAll(async () => {
  readModel = await createFilledReadModel(inTheDatabase);
  [one, other] = readModel.authors as [UserId, UserId];
  await rebuild(readModel.work());
});
afterAll(() => readModel?.[Symbol.asyncDispose]());

const leftIn = async (schema: string, userId: UserId) =>
  (await countInReadModels(readModel.side, userId)).get(schema);

test('every version of the read model is a copy, whatever its name', async () => {
  await readModel.side.pool.query('create schema "not one"; create table "not one".users (name text)');
  expect(await readModels(readModel.side)).toEqual(['read_model', 'read_model_previous']);
});

test('rows that are being written are left to their writer, and not waited for', async () => {
  const { pool } = readModel.side;
  const writer = await pool.connect();
  try {
    await writer.query(`begin; update read_model_previous.users set role = role where id = ${one}`);
    await eraseInReadModels({ pool, tables }, [one]);
    expect(await leftIn('read_model_previous', one)).toBe(1);
  } finally {
    await writer.query('rollback');
    writer.release();
  }
  await eraseInReadModels({ pool, tables }, [one]);
  expect(await leftIn('read_model_previous', one)).toBe(0);
});

test('the remaining data equals a replay without the erased keys, and others keep theirs', async () => {
  const { pool, keys } = readModel.side;
  await keys.destroy(one);
  await eraseInReadModels({ pool, tables }, [one]);
  for (const schema of await readModels({ pool, tables })) {
    expect(await leftIn(schema, one)).toBe(0);
    expect(await leftIn(schema, other)).toBeGreaterThan(1);
    expect(await digestOf(pool, schema)).toEqual(await replayed(readModel.side));
  }
});

test('PostgreSQL keeps no samples of it for its planner', async () => {
  const { pool, databaseUrl } = readModel.side;
  const name = 'Ada of Samples';
  await pool.query('update read_model.users set name = $1', [name]);
  await pool.query('update read_model.comments set text = $1', [name]);
  await pool.query('analyze');
  expect((await searchDatabase(databaseUrl, [name])).map(({ place }) => place)).toEqual([
    'read_model.comments',
    'read_model.users',
  ]);
});

test('leftovers of a killed verification are removed at the next erasure and the next start, and counted until then', async () => {
  const { pool, eventLog } = readModel.side;
  const leave = async () => {
    const mark: Mark = {
      use: 'verify',
      log: eventLog.identity,
      position: START,
      madeAt: new Date().toISOString(),
      isWhole: false,
    };
    await pool.query('create schema verify_killed');
    await inTransaction(pool, (connection) => createFoldTables(connection, tables, 'verify_killed'));
    await pool.query(`comment on schema verify_killed is '${textOf(mark)}'`);
    await pool.query(`insert into verify_killed.fold_users values ($1, 1, '{}', '{"name":"Ada"}')`, [other]);
    await pool.query(
      `insert into verify_killed.fold_comments values (1, 1, '{}', $1), (2, 1, '{}', 'null')`,
      [JSON.stringify({ author_id: other, text: 'Well said.' })],
    );
  };
  const isThere = async () =>
    (
      await pool.query<{ isThere: boolean }>(
        `select to_regnamespace('verify_killed') is not null as "isThere"`,
      )
    ).rows[0]?.isThere;
  await leave();
  expect(await countLeft({ domain: publishing, pool, tables }, other)).toContainEqual({
    part: 'verifications',
    left: 2,
  });
  const owner = await holdLock(pool, LOCK_OF, 'verify_killed');
  await eraseInReadModels({ pool, tables }, [one]);
  expect(await isThere()).toBe(true);
  await owner?.[Symbol.asyncDispose]();
  await until(
    async () => {
      await eraseInReadModels({ pool, tables }, [one]);
      return isThere();
    },
    (there) => there === false,
  );
  expect(await countLeft({ domain: publishing, pool, tables }, other)).toContainEqual({
    part: 'verifications',
    left: 0,
  });
  await leave();
  await applyErasures({ ...readModel.side, log: pino({ level: 'silent' }) });
  expect(await isThere()).toBe(false);
});

test('a read model of another release is erased table by table, under any name, and foreign schemas are left alone', async () => {
  const { pool } = readModel.side;
  // One had fewer tables and columns, one is an operator’s private copy, and one belongs to another
  // application.
  await pool.query(`
    create schema "Kept by hand"; create table "Kept by hand".users as select id, name, seal, version, created_at, updated_at from read_model.users;
    create schema half; create table half.comments as select * from read_model.comments;
    create schema others; create table others.users as select id, name, email, version, created_at, updated_at from read_model.users;
    create schema shop;
    create table shop.users as select gen_random_uuid() as id, name, email, seal, version, created_at, updated_at from read_model.users`);
  const { rows: before } = await pool.query('select * from others.users order by id');
  expect(await leftIn('"Kept by hand"', other)).toBe(1);
  expect(await countLeft({ domain: publishing, pool, tables }, other)).toContainEqual({
    part: '"Kept by hand"',
    left: 1,
  });
  await eraseInReadModels({ pool, tables }, [other]);
  expect([await leftIn('"Kept by hand"', other), await leftIn('half', other)]).toEqual([0, 0]);
  expect((await pool.query('select * from others.users order by id')).rows).toEqual(before);
  expect(await readModels({ pool, tables })).not.toContain('shop');
  await pool.query('drop schema half cascade');
});

test('a schema that is renamed in the meantime is erased under its new name', async () => {
  const { pool } = readModel.side;
  await pool.query(`update "Kept by hand".users set name = 'Ada' where id = $1`, [other]);
  const [table] = (await findTables(pool, ['users'])).filter(({ schema }) => schema === '"Kept by hand"');
  if (!table) throw new Error('it is there');
  await pool.query('alter schema "Kept by hand" rename to renamed');
  const names: string[] = [];
  const look = (name: string) => {
    names.push(name);
    return pool.query(`select from ${name}`);
  };
  expect((await withTable(pool, table, look))?.rowCount).toBeGreaterThan(1);
  expect(names).toEqual(['"Kept by hand".users', 'renamed.users']);
  expect(await leftIn('renamed', other)).toBe(1);
  await eraseInReadModels({ pool, tables }, [other]);
  expect(await leftIn('renamed', other)).toBe(0);
});

test('a copy that cannot be erased is named, stays in the report, and delays no other', async () => {
  const { pool } = readModel.side;
  await pool.query(`
    create schema a_refusing; create table a_refusing.users as select * from read_model_previous.users;
    update a_refusing.users set name = 'Ada' where id = ${other}; update renamed.users set name = 'Ada' where id = ${other};
    create function a_refusing.refuse() returns trigger language plpgsql as $$ begin raise 'never' using errcode = '42P01'; end $$;
    create trigger refuse before update on a_refusing.users for each row execute function a_refusing.refuse()`);
  await expect(eraseInReadModels({ pool, tables }, [other])).rejects.toThrow(
    'Personal data is left in a_refusing.users.',
  );
  expect(await leftIn('renamed', other)).toBe(0);
  expect(await countLeft({ domain: publishing, pool, tables }, other)).toContainEqual({
    part: 'a_refusing',
    left: 1,
  });
  await pool.query('drop schema a_refusing cascade; drop schema renamed cascade');
});

test('unknown parts of a former read model are erased too: renamed fields, and those no longer declared', async () => {
  const { pool, databaseUrl } = readModel.side;
  await pool.query(`
    alter table read_model_previous.comments rename column text to remark;
    update read_model_previous.comments set remark = 'Once a remark' where id = (select min(id) from read_model_previous.comments);
    create table read_model_previous.letters as
      select id, author_id as sender_id, 'Once a letter' as body, seal, version, created_at, updated_at from read_model_previous.comments where remark = 'Once a remark'
      union all select 1, 1, 'Of somebody else', null, 1, now(), now();
    alter table read_model_previous.letters alter column body set statistics 0`);
  const { rows } = await pool.query<{ author: UserId }>(
    `select author_id as author from read_model_previous.comments where remark = 'Once a remark'`,
  );
  const author = rows[0]?.author as UserId;
  const secrets = ['Once a remark', 'Once a letter'];
  expect(await searchDatabase(databaseUrl, secrets)).toHaveLength(2);
  expect(await leftIn('read_model_previous', author)).toBeGreaterThan(1);
  await eraseInReadModels({ pool, tables }, [author]);
  expect(await searchDatabase(databaseUrl, secrets)).toEqual([]);
  expect(await leftIn('read_model_previous', author)).toBe(0);
  expect(await searchDatabase(databaseUrl, ['Of somebody else'])).toHaveLength(1);
});

test('a column of the live read model is not personal only because an operator excludes it from the statistics', async () => {
  const { pool } = readModel.side;
  await pool.query(`alter table read_model.users alter column role set statistics 0`);
  await eraseInReadModels({ pool, tables }, [other]);
  expect((await pool.query('select role from read_model.users where id = $1', [other])).rows).toEqual([
    { role: 'author' },
  ]);
});
