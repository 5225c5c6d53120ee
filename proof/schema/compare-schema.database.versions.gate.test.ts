import { test as base, expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { openPool } from '#shared/database/pool.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { createPublishingDatabase } from '../../test/engines/migrated-database.ts';
import { spendingDomain } from '../../test/toy/spending.ts';
import { compareSchema } from './compare-schema.ts';

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('database', async ({}, { onCleanup }) => {
    const database = await createPublishingDatabase();
    onCleanup(() => database[Symbol.asyncDispose]());
    return database;
  })
  .extend('pool', async ({ database }, { onCleanup }) => {
    const pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 2 });
    onCleanup(() => pool[Symbol.asyncDispose]());
    return pool;
  });

const tables = tablesOf(publishing);

test('a migrated database has no findings', async ({ pool }) => {
  expect(await compareSchema({ pool, tables })).toEqual([]);
});

test('the tables of another release have none', async ({ pool }) => {
  expect(await compareSchema({ pool, tables: tablesOf(spendingDomain) })).toEqual([]);
});

test('what operators add for themselves is no finding', async ({ pool }) => {
  await pool.query(
    `create schema mine; create table mine.copy as select * from event_log.event;
     create function mine.note() returns trigger language plpgsql as $$ begin return new; end $$;
     create trigger note before insert on mine.copy for each row execute function mine.note();
     create index mine on event_log.event (recorded_at); create table audit.mine (id bigint);
     create view public.mine as select stream from event_log.event; create function public.mine(text) returns text language sql as 'select $1';
     alter table webhook_ledger.endpoint add column mine bigint; alter table read_model.articles set (autovacuum_vacuum_scale_factor = 0.01);
     grant select on event_log.event to public; drop index event_index.event_by_client`,
  );
  expect(await compareSchema({ pool, tables })).toEqual([]);
});

test('what their own tables have is no finding, unless it refuses changes of ours', async ({ pool }) => {
  await pool.query(
    `create table public.theirs (id bigint generated always as identity primary key, name text not null default 'x' check (name <> ''));
     create unique index theirs_name on public.theirs (name);
     create function public.theirs() returns trigger language plpgsql as $$ begin return new; end $$;
     create trigger theirs before insert on public.theirs for each row execute function public.theirs()`,
  );
  expect(await compareSchema({ pool, tables })).toEqual([]);
  await pool.query(
    `alter table public.theirs add column head uuid, add constraint theirs_event foreign key (head) references event_log.event (id);
     create trigger "t on public.theirs" before insert on event_log.event for each row execute function public.theirs()`,
  );
  expect((await compareSchema({ pool, tables })).map(({ object }) => object).toSorted()).toEqual([
    'constraint theirs_event of public.theirs',
    'trigger t on public.theirs on event_log.event',
  ]);
});

test('a migration of a newer release is no finding, but a trigger is that it would not have', async ({
  pool,
}) => {
  await pool.query(
    `insert into public.annals_migration (component, number, name, checksum) values ('audit, added', 99, 'later', 'x');
     alter table audit.head add column later bigint; create table audit.later (id bigint)`,
  );
  expect(await compareSchema({ pool, tables })).toEqual([]);
  await pool.query(
    `create function audit.later() returns trigger language plpgsql as $$ begin return new; end $$;
     create trigger later before insert on audit.head for each row execute function audit.later()`,
  );
  expect(await compareSchema({ pool, tables })).toEqual([
    { kind: 'schema_extra', object: 'trigger later on audit.head' },
    { kind: 'schema_extra', object: 'function audit.later()' },
  ]);
});

test('the comparison leaves nothing behind', async ({ pool }) => {
  await compareSchema({ pool, tables: { ...tables } });
  const { rows } = await pool.query(`select nspname from pg_namespace where nspname like 'annals_expected%'`);
  expect(rows).toEqual([]);
});
