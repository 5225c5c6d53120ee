import { afterAll, beforeAll, test } from 'vitest';
import { printedJson } from '../../command-line/domain/contract/printed-json.ts';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { type Installation, shareInstallation } from '../engines/installation.ts';
import { expectRecorded } from './expect-recorded.ts';
import { USUAL } from './explain.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await shareInstallation();
});
afterAll(() => installation?.[Symbol.asyncDispose]());

/**
 * From the catalogue of PostgreSQL. From version 18 on it lists not-null constraints, which are shown with
 * the columns.
 */
const TABLES = `select c.relname as "table",
  (select json_object_agg(attname, concat_ws(' ', format_type(atttypid, atttypmod),
      (select 'collate ' || quote_ident(collname) from pg_collation where oid = attcollation and collname <> 'default'),
      case when attnotnull then 'not null' end,
      case when attgenerated = 's' then 'generated as ' || d.value else 'default ' || d.value end,
      case when attstattarget = 0 then 'without statistics' end))
    from pg_attribute a left join lateral (select pg_get_expr(adbin, adrelid) as value from pg_attrdef where adrelid = attrelid and adnum = attnum) d on true
    where attrelid = c.oid and attnum > 0 and not attisdropped) as columns,
  (select json_agg(regexp_replace(pg_get_indexdef(indexrelid), ' ON \\w+\\.', ' ON ') order by indexrelid::regclass::text)
    from pg_index where indrelid = c.oid) as indexes,
  (select json_agg(pg_get_constraintdef(oid) order by conname) from pg_constraint where conrelid = c.oid and contype <> 'n') as constraints,
  (select json_agg(regexp_replace(pg_get_triggerdef(oid), ' ON \\w+\\.', ' ON ') order by tgname)
    from pg_trigger where tgrelid = c.oid and not tgisinternal) as triggers
from pg_class c where relnamespace = 'read_model'::regnamespace and relkind in ('r', 'p', 'v', 'm') order by 1`;

test('the tables of the read model are the recorded ones', async () => {
  const { rows } = await inDatabase(installation.settings.DATABASE_URL ?? '', async (client) => {
    await client.query(USUAL);
    return client.query(TABLES);
  });
  const tables = rows.map(({ table, ...rest }) => [table, rest]);
  expectRecorded('read-model.json', printedJson(Object.fromEntries(tables)));
});
