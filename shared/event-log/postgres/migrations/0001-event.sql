-- The log. Positions are dense and in the order of commits, because only event_log.append assigns them, under one lock.
create schema event_log;

create table event_log.identity (
  id uuid primary key default gen_random_uuid(),
  only_one boolean not null default true unique check (only_one)
);
insert into event_log.identity default values;

create table event_log.event (
  position bigint primary key,
  stream text collate "C" not null,
  version integer not null check (version > 0),
  id uuid not null unique,
  type text collate "C" not null,
  data json not null,
  metadata json not null,
  -- The size of data and metadata as text, so that a page can be bounded without reading what it leaves out.
  bytes integer not null,
  recorded_at timestamptz not null default clock_timestamp(),
  unique (stream, version)
);

-- Appended once, never edited: not even by a slip at the console.
create function event_log.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the event log is append-only: % refused', tg_op using errcode = 'restrict_violation';
end $$;

create trigger append_only before update or delete or truncate on event_log.event
  for each statement execute function event_log.refuse_change();
