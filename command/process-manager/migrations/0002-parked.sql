-- What could not be carried out: it is retried with growing pauses, and holds up nothing else.
create table process_manager.parked (
  -- `end`: a child whose parent is gone; `erase`: what is left of a deleted user.
  task text not null check (task in ('end', 'erase')),
  stream text collate "C" not null,
  -- The event that it follows from.
  cause_id uuid not null,
  cause_metadata jsonb not null,
  reason text not null,
  attempts integer not null default 1,
  parked_at timestamptz not null default clock_timestamp(),
  next_at timestamptz not null,
  -- By an operator: it is not retried any more.
  skipped_at timestamptz,
  primary key (task, stream)
);
create index parked_due on process_manager.parked (next_at) where skipped_at is null;
