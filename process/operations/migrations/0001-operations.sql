create schema operations;

-- What operators have asked for over the interface: carried out behind the answer, by one process at a time for each kind.
create table operations.asked (
  -- In the order of time.
  id uuid primary key,
  kind text not null check (kind in ('retry', 'release', 'verify')),
  -- Of retry and release.
  stream text collate "C",
  version integer,
  asked_by text not null,
  client text,
  request text not null,
  requested_at timestamptz not null default now(),
  state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed')),
  -- How often it was taken up. Whoever records what came of it has taken it up last.
  attempt integer not null default 0,
  started_at timestamptz,
  finished_at timestamptz,
  outcome text,
  progress_done bigint,
  progress_of bigint,
  -- Text, because what is found in a damaged log may hold what jsonb refuses.
  report text,
  -- The same key of the same caller is the same order.
  key_digest text unique,
  content_digest text
);
create index asked_and_open on operations.asked (kind, id) where state in ('waiting', 'running');
create index asked_and_finished on operations.asked (finished_at) where finished_at is not null;

-- How the installation did, every few seconds for a day.
create table operations.sample (
  at timestamptz primary key,
  measured jsonb not null
);

-- What the tables of the read model are by the release of the projector that was started last.
create table operations.projection (
  only_one boolean primary key default true check (only_one),
  fingerprint text not null
);
