import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UserId } from '#shared/brands.ts';
import { digestOf } from '../../projector/digest.ts';
import { rebuild } from '../../projector/rebuild.ts';
import { inTheDatabase } from '../../test/engines/log-engines.ts';
import { replayed } from '../../test/engines/projection.ts';
import { createRebuildWorld, type RebuildWorld } from '../../test/engines/rebuild-world.ts';
import { searchDatabase } from '../../test/engines/search-everywhere.ts';
import { countIn, eraseInReadModels, readModels } from './copies.ts';

let world: RebuildWorld;
let one: UserId;
let other: UserId;
beforeAll(async () => {
  world = await createRebuildWorld(inTheDatabase);
  [one, other] = world.authors as [UserId, UserId];
  await rebuild(world.work());
});
afterAll(() => world?.[Symbol.asyncDispose]());

test('every version of the read model is one, whatever its name', async () => {
  await world.side.pool.query('create schema "not one"; create table "not one".users (name text)');
  expect(await readModels(world.side.pool)).toEqual(['read_model', 'read_model_previous']);
});

test('what is written just now is left to whoever writes it, and not waited for', async () => {
  const { pool } = world.side;
  const writer = await pool.connect();
  try {
    await writer.query(`begin; update read_model_previous.users set role = role where id = ${one}`);
    await eraseInReadModels(pool, [one]);
    expect(await countIn(pool, 'read_model_previous', one)).toBe(1);
  } finally {
    await writer.query('rollback');
    writer.release();
  }
  await eraseInReadModels(pool, [one]);
  expect(await countIn(pool, 'read_model_previous', one)).toBe(0);
});

test('what is left is what a replay comes to without their keys, and others keep what is theirs', async () => {
  const { pool, keys } = world.side;
  await keys.destroy(one);
  await eraseInReadModels(pool, [one]);
  for (const schema of await readModels(pool)) {
    expect(await countIn(pool, schema, one)).toBe(0);
    expect(await countIn(pool, schema, other)).toBeGreaterThan(1);
    expect(await digestOf(pool, schema)).toEqual(await replayed(world.side));
  }
});

test('PostgreSQL keeps no samples of it for its planner', async () => {
  const { pool, databaseUrl } = world.side;
  const name = 'Ada of Samples';
  await pool.query('update read_model.users set name = $1', [name]);
  await pool.query('update read_model.comments set text = $1', [name]);
  await pool.query('analyze');
  expect((await searchDatabase(databaseUrl, [name])).map(({ place }) => place)).toEqual(['read_model.comments', 'read_model.users']);
});
