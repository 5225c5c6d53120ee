-- The read model, made in whichever schema comes first in the search path: the live one, or one that is being rebuilt beside it.

create table users (
  id bigint primary key,
  -- Null once the user was deleted, and without a trace of what they were.
  name text,
  email text,
  -- Of the event that last set what is personal: a digest has it in place of that, and is the same after an erasure.
  seal text,
  role text not null,
  version integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
create index users_by_creation on users (created_at desc, id desc) where deleted_at is null;
-- Those who were deleted were in earlier lists.
create index users_departed on users (created_at desc, id desc) where deleted_at is not null;

create table articles (
  id bigint primary key,
  author_id bigint not null,
  title text not null,
  body text not null,
  tags text[] not null,
  cover text,
  status text not null,
  version integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  published_at timestamptz,
  search tsvector generated always as (
    setweight(to_tsvector('simple', normalize(title)), 'A') || to_tsvector('simple', normalize(body))
  ) stored
);
-- A list is a page of one status, or of each of both, so that what a reader may not see is never passed over row by row.
create index articles_by_creation on articles (status, created_at desc, id desc);
create index articles_by_author on articles (author_id, status, created_at desc, id desc);
create index articles_published on articles (published_at desc, id desc) where status = 'published';
create index articles_published_by_author on articles (author_id, published_at desc, id desc) where status = 'published';
create index articles_by_tag on articles using gin (tags);
create index articles_by_text on articles using gin (search);

create table comments (
  id bigint primary key,
  article_id bigint not null,
  author_id bigint not null,
  -- Null once its author was deleted: it was theirs.
  text text,
  seal text,
  version integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index comments_by_article on comments (article_id, created_at, id);
create index comments_by_author on comments (author_id, id);

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

-- What the four tables come to, kept by the triggers of kept-digest.ts while somebody projects.
create table digest (
  name text primary key,
  rows bigint not null,
  low numeric not null,
  high numeric not null
);

-- PostgreSQL keeps samples of what is in a column for its planner, longer than a person's data may be there.
alter table users alter column name set statistics 0, alter column email set statistics 0;
alter table comments alter column text set statistics 0;
alter table webhooks alter column url set statistics 0, alter column description set statistics 0, alter column header_names set statistics 0;
