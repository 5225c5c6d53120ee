-- The documents that clients may name instead of sending them, as `annals documents load` brought them.
create table persisted_document (
  id text collate "C" primary key check (length(id) between 1 and 200),
  text text not null,
  loaded_at timestamptz not null default now()
);
