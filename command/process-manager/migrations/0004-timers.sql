-- Timers of aggregates: made of the log, and made anew of it where it says more.
create table process_manager.timer (
  stream text collate "C" not null,
  name text collate "C" not null,
  -- The event that started it.
  cause_id uuid not null,
  cause_metadata jsonb not null,
  due_at timestamptz,
  -- Of one that stands still.
  left_ms bigint,
  primary key (stream, name),
  check ((due_at is null) <> (left_ms is null))
);
create index timer_due on process_manager.timer (due_at) where due_at is not null;

-- Aggregates whose timers are to be looked at again, because of an event and its position.
create table process_manager.timer_mark (
  stream text collate "C" primary key,
  position bigint not null,
  cause_id uuid not null,
  cause_metadata jsonb not null
);
