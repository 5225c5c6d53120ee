create schema snapshots;

-- States of aggregates with long streams, so that nobody has to fold a stream from its first event. All of it can be deleted at any time.
create table snapshots.state (
  stream text collate "C" primary key,
  -- The last event that is in it.
  version integer not null,
  position bigint not null,
  event_id uuid not null,
  -- What its fold means: a state of another definition is of no use.
  definition text collate "C" not null,
  -- Whose personal data is in it. Few streams are this long, so that an erasure looks at all rows.
  persons bigint[] not null,
  -- JSON, sealed under a key made of the master key and those of all these persons.
  sealed bytea not null,
  made_at timestamptz not null default now()
);
