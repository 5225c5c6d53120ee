-- One key per person, wrapped under MASTER_KEY. A destroyed key leaves its row behind, so that it is never made again.
-- PostgreSQL keeps the old row until vacuum and in backups: those are erased by the erasure list, applied after a restore.
create table person_key (
  subject      bigint      primary key check (subject > 0),
  wrapped      bytea,
  created_at   timestamptz not null default now(),
  destroyed_at timestamptz,
  check ((wrapped is null) = (destroyed_at is not null))
);

-- A known value wrapped under MASTER_KEY, so that another one is noticed at the start and not at the first read.
create table master_key_check (
  only_row boolean primary key default true check (only_row),
  wrapped  bytea   not null
);
