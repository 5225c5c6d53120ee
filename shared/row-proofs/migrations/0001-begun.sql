-- Rows of a release without proofs were given theirs, or there were none; a process whose folder has no note reads it.
create table auth.row_proofs_begun (
  at       timestamptz not null default now(),
  only_one boolean     not null default true primary key check (only_one)
);
