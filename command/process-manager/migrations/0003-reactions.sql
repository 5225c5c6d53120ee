-- What the follower `reactions` knows of the log up to its checkpoint, by one declaration of the domain. By another it is made anew of the log.
create table process_manager.reacting (
  only_one boolean primary key default true check (only_one),
  fingerprint text not null,
  -- What happened up to here leads to nothing any more: it did already, or nothing was declared to follow from it.
  after_position bigint not null
);

-- Where references lead by which aggregates react to others.
create table process_manager.reference (
  child text collate "C" not null,
  -- `claim.team`
  name text collate "C" not null,
  parent text collate "C" not null,
  primary key (child, name)
);
create index reference_to on process_manager.reference (parent, name);

-- By which event: whoever refers to it later reacts to that as well.
create table process_manager.ended (
  parent text collate "C" primary key,
  type text not null
);

-- What follows from events and is still to be done; of one aggregate, one after the other.
create table process_manager.task (
  number bigint not null generated always as identity,
  -- `run`: a command of a reaction; `react`: the code that reacts to an event of its own.
  task text not null check (task in ('run', 'react')),
  stream text collate "C" not null,
  -- Of the reaction: `team team.closed`, or the name of the event.
  name text collate "C" not null,
  cause_id uuid not null,
  cause_metadata jsonb not null,
  -- It is parked once it has failed.
  attempts integer not null default 0,
  reason text,
  parked_at timestamptz,
  next_at timestamptz,
  -- By an operator: it is not retried any more.
  skipped_at timestamptz,
  primary key (stream, task, name, cause_id)
);
create unique index task_of_stream on process_manager.task (stream, number) where skipped_at is null;
create index task_next on process_manager.task (number) where skipped_at is null;
