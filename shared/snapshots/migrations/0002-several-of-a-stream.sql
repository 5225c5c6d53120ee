-- States of long streams at several of their versions, by what was folded: nobody has to fold a stream from its first event for what it was once.
-- All of it can be deleted at any time. Takes the place of snapshots.state, which an earlier release may still write to.
create table snapshots.fold (
  stream text collate "C" not null,
  -- What was folded: `state` decides commands, `row` is as the read model has it, `rights` is what rights to read ask for.
  fold text collate "C" not null,
  -- What the fold means: a state of another definition is of no use.
  definition text collate "C" not null,
  -- The last event that is in it.
  position bigint not null,
  version integer not null,
  event_id uuid not null,
  -- Whose personal data is in it.
  persons bigint[] not null,
  -- JSON, sealed under a key made of the master key and those of all these persons.
  sealed bytea not null,
  made_at timestamptz not null default now(),
  primary key (stream, fold, definition, position)
);
create index fold_of_person on snapshots.fold using gin (persons) where persons <> '{}';
