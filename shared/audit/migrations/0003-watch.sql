-- How far the log has been verified in the present round, so that whoever takes over goes on there; and what came out of the last whole one.
create table audit.watch (
  only_one boolean primary key default true check (only_one),
  log uuid not null,
  round bigint not null,
  -- The end of the last block that was looked at.
  count bigint not null,
  position bigint not null,
  began_at timestamptz not null,
  differences bigint not null,
  finished_at timestamptz,
  finished_count bigint,
  finished_differences bigint
);

-- What was found in the present round and in the one before it: where, and in which fields, and nothing of what is in them.
create table audit.watch_difference (
  round bigint not null,
  kind text not null,
  position bigint,
  stream text,
  version integer,
  fields text[] not null,
  found_at timestamptz not null default now()
);
create index watch_difference_by_round on audit.watch_difference (round, found_at);
