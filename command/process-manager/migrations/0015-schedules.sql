-- The schedules of the domain. What they sent is in the log; this is where they go on.
create table process_manager.schedule (
  name text collate "C" primary key,
  -- The expression and the time zone: others begin with their declaration.
  timing text not null,
  -- The times up to here were run, missed, or before the declaration.
  after_at timestamptz not null,
  next_at timestamptz,
  -- When to look at it: at the next time, or earlier for a run that is to be noted.
  wake_at timestamptz,
  missed_at timestamptz,
  -- An operator has it run now.
  requested_at timestamptz
);
create index schedule_wake on process_manager.schedule (wake_at);

-- The latest runs, each once, wherever the clocks are set.
create table process_manager.schedule_run (
  number bigint not null generated always as identity,
  schedule text collate "C" not null,
  time_at timestamptz not null,
  is_requested boolean not null default false,
  -- In place of the event from which other tasks follow.
  cause_id uuid not null,
  started_at timestamptz not null default clock_timestamp(),
  -- How many commands were noted, up to which aggregate, and whether these are all.
  commands bigint not null default 0,
  after_id bigint not null default 0,
  is_noted boolean not null default false,
  primary key (schedule, time_at)
);
create index schedule_run_in_order on process_manager.schedule_run (schedule, number);
create index schedule_run_to_note on process_manager.schedule_run (number) where not is_noted;

create index task_of_schedule on process_manager.task (cause_id) where name like 'schedule %';
