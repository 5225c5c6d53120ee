-- What the read model has beside the tables of the domain, which follow from its declaration. All of it is made in whichever schema
-- comes first in the search path: the live one, or one that is being rebuilt beside it.

create table webhooks (
  id bigint primary key,
  owner_id bigint not null,
  -- Null only where its owner's key was destroyed and their deletion is still to come.
  url text,
  description text,
  seal text,
  event_types text[] not null,
  filter_article_id bigint,
  filter_author_id bigint,
  payload text not null,
  is_ordered boolean not null,
  rate_per_second integer not null,
  concurrency integer not null,
  header_names text[] not null,
  scopes text[] not null,
  is_enabled boolean not null,
  disabled_reason text,
  -- After which position, and of which log if not of the one that is projected, changes were not delivered, until they are replayed.
  missed_log text,
  missed_since bigint,
  old_secrets_end_at timestamptz,
  version integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index webhooks_by_creation on webhooks (created_at desc, id desc);
create index webhooks_by_owner on webhooks (owner_id, created_at desc, id desc);

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

-- PostgreSQL keeps samples of what is in a column for its planner, longer than a person's data may be there.
alter table webhooks alter column url set statistics 0, alter column description set statistics 0, alter column header_names set statistics 0;
