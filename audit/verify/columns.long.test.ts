import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTheDatabase } from '../../test/engines/log-engines.ts';
import { createVerifyWorld, type VerifyWorld } from '../../test/engines/verify-world.ts';
import { otherThan } from '../../testing/database/other-than.ts';

let world: VerifyWorld;
beforeAll(async () => {
  world = await createVerifyWorld(inTheDatabase);
});
afterAll(() => world?.[Symbol.asyncDispose]());

const columnsOf = async (table: string) => {
  const { rows } = await world.side.pool.query<{ name: string; type: string }>(
    `select quote_ident(attname) as name, format_type(atttypid, null) as type
     from pg_attribute where attrelid = ('read_model.' || $1)::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  return rows;
};

test.each(['users', 'articles', 'comments', 'webhooks'])(
  'each column of %s that somebody tampers with is found',
  async (table) => {
    const columns = await columnsOf(table);
    expect(columns.length).toBeGreaterThan(5);
    const names = columns.map(({ name }) => name).join();
    await world.side.pool.query(
      `create table public.kept_${table} as select ${names} from read_model.${table}`,
    );
    const undo = `delete from read_model.${table}; insert into read_model.${table} (${names}) select ${names} from public.kept_${table}`;
    for (const { name, type } of columns) {
      const forge = `update read_model.${table} set ${name} = ${otherThan(name, type)} where id = (select min(id) from public.kept_${table})`;
      expect((await world.verifyTampered(forge, undo)).outcome, name).toBe('different');
    }
    expect((await world.verify()).outcome).toBe('proven');
  },
);
