-- The latest time that the clock of the database has shown. Once it shows an earlier one, it was set back.
create table webhook_ledger.clock (
  only_row boolean primary key default true check (only_row),
  seen_at timestamptz not null default clock_timestamp()
);
insert into webhook_ledger.clock default values;
