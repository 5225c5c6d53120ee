import type { Tampering } from './tampering.ts';

const noteFunction = (
  schema: string,
) => `create function ${schema}.forge() returns trigger language plpgsql as $$
  begin new.data := jsonb_set(new.data::jsonb, '{subject}', '"Forged"')::json; return new; end $$`;

/** The objects that decide about everything stored and read from then on. */
export const OF_THE_SCHEMA: readonly Tampering[] = [
  {
    name: 'a trigger rewrites events',
    sql: `${noteFunction('public')}; create trigger forge before insert on event_log.event for each row execute function public.forge()`,
    verify: ['schema_extra'],
    watch: ['schema_extra'],
  },
  {
    name: 'a trigger changes rows',
    sql: `create function public.forge() returns trigger language plpgsql as $$ begin new.amount := 1; return new; end $$; create trigger forge before insert or update on read_model.claims for each row execute function public.forge()`,
    verify: ['schema_extra'],
    watch: ['schema_extra'],
  },
  {
    name: 'the guard of the log is removed',
    sql: `drop trigger append_only on event_log.event`,
    verify: ['schema_missing'],
    watch: ['schema_missing'],
  },
  {
    name: 'the guard of the log is switched off',
    sql: `alter table event_log.event disable trigger append_only`,
    verify: ['schema_different'],
    watch: ['schema_different'],
  },
  {
    name: 'the function that appends is replaced',
    sql: `create or replace function event_log.refuse_change() returns trigger language plpgsql as $$ begin return null; end $$`,
    verify: ['schema_different'],
    watch: ['schema_different'],
  },
  {
    name: 'a function hides one of ours',
    sql: `create function event_log.append(streams text, expected text, offsets text, ids text, types text, datas text, metadatas text, sizes integer) returns void language sql as 'select'`,
    verify: ['schema_extra'],
    watch: ['schema_extra'],
  },
  {
    name: 'a function hides one of the server',
    sql: `create function public.hashtext(varchar) returns integer language sql as 'select 1'`,
    verify: ['schema_extra'],
    watch: ['schema_extra'],
  },
  {
    name: 'an operator hides one of the server',
    sql: `create function public.never(text, varchar) returns boolean language sql as 'select false'; create operator public.= (leftarg = text, rightarg = varchar, function = public.never)`,
    verify: ['schema_extra'],
    watch: ['schema_extra'],
  },
  {
    name: 'a rule drops what is written',
    sql: `create rule forge as on insert to webhook_ledger.delivery do instead nothing`,
    verify: ['schema_extra'],
    watch: ['schema_extra'],
  },
  {
    name: 'a policy hides rows',
    sql: `alter table event_log.event enable row level security; alter table event_log.event force row level security; create policy forge on event_log.event using (type <> 'claim.made')`,
    verify: ['schema_different', 'schema_extra'],
    watch: ['schema_different', 'schema_extra'],
  },
  {
    name: 'a view replaces a table',
    sql: `alter table auth.person rename to forged; create view auth.person as select * from auth.forged`,
    verify: ['schema_different', 'schema_missing'],
    watch: ['schema_different', 'schema_missing'],
  },
  {
    name: 'a table is replaced by a copy',
    sql: `alter table webhook_ledger.endpoint rename to forged; create table webhook_ledger.endpoint as select * from webhook_ledger.forged`,
    verify: ['schema_different', 'schema_missing'],
    watch: ['schema_different', 'schema_missing'],
  },
  {
    name: 'a default is changed',
    sql: `alter table event_log.event alter column recorded_at set default '2001-01-01'`,
    verify: ['schema_different'],
    watch: ['schema_different'],
  },
  {
    name: 'a column computes its values',
    sql: `alter table process_manager.member add column forged text generated always as (parent || child) stored`,
    verify: ['schema_extra'],
    watch: ['schema_extra'],
  },
  {
    name: 'a search column is computed otherwise',
    sql: `alter table read_model.claims alter column search drop expression`,
    verify: ['schema_different'],
    watch: ['schema_different'],
  },
  {
    name: 'a column gets another type',
    sql: `alter table webhook_ledger.message alter column position type integer`,
    verify: ['schema_different'],
    watch: ['schema_different'],
  },
  {
    name: 'a unique constraint is dropped',
    sql: `alter table event_log.event drop constraint event_stream_version_key`,
    verify: ['schema_missing'],
    watch: ['schema_missing'],
  },
  {
    name: 'a unique index is dropped',
    sql: `drop index process_manager.task_of_stream`,
    verify: ['schema_missing'],
    watch: ['schema_missing'],
  },
  {
    name: 'a primary key is dropped',
    sql: `alter table auth.person drop constraint person_pkey`,
    verify: ['schema_missing'],
    watch: ['schema_missing'],
  },
  {
    name: 'a constraint refuses rows',
    sql: `alter table webhook_ledger.delivery add constraint forged check (webhook_id > 100000000000000000) not valid`,
    verify: ['schema_extra'],
    watch: ['schema_extra'],
  },
  {
    name: 'an index runs a function',
    sql: `create function public.spy(bigint) returns bigint immutable language sql as 'select $1'; create index forged on event_log.event (public.spy(position))`,
    verify: ['schema_extra'],
    watch: ['schema_extra'],
  },
  {
    name: 'a table adds its rows to those of the log',
    sql: `create table public.forged () inherits (event_log.event)`,
    verify: ['schema_extra'],
    watch: ['schema_extra'],
  },
  {
    name: 'a trigger of the server follows changes of the schema',
    sql: `create function public.forge() returns event_trigger language plpgsql as $$ begin end $$; create event trigger forge on ddl_command_end execute function public.forge()`,
    verify: ['schema_extra'],
    watch: ['schema_extra'],
  },
  {
    name: 'a table of the read model is removed',
    sql: `drop table read_model.notes`,
    verify: ['refused'],
    watch: ['refused'],
  },
  {
    name: 'a migration is forgotten',
    sql: `delete from public.annals_migration where component = 'process-manager' or component = 'process-manager, added'`,
    verify: [],
    watch: [],
  },
  {
    name: 'a table becomes unlogged',
    sql: `alter table process_manager.timer set unlogged`,
    verify: ['schema_different'],
    watch: ['schema_different'],
  },
];
