-- What the read model has beside the tables of aggregates, which follow from the domain. All of it is made in whichever schema
-- comes first in the search path: the live one, or one that is being rebuilt beside it.

-- Users who were deleted, whatever became of their row: what they wrote goes with them.
create table departed (user_id bigint primary key);

-- What was deleted, by the name of its table: lists as of an earlier moment find it here, and what it was then in its stream.
create table removed (
  kind text collate "C" not null,
  id bigint not null,
  -- Its author, its article or its owner, as the table has it.
  parent_id bigint not null,
  created_at timestamptz not null,
  primary key (kind, id)
);
create index removed_by_creation on removed (kind, created_at desc, id desc);
create index removed_by_parent on removed (kind, parent_id, created_at desc, id desc);

-- Aggregates that are out of the tables above because of an event that could not be taken in.
create table parked (
  stream text collate "C" primary key,
  version integer not null,
  position bigint not null,
  type text not null,
  reason text not null,
  parked_at timestamptz not null default now()
);

-- What the tables of aggregates come to, kept by the triggers of kept-digest.ts while somebody projects.
create table digest (
  name text primary key,
  rows bigint not null,
  low numeric not null,
  high numeric not null
);
