-- Since when processes run that read cursors with an event: for ever in a new database, in another one since the first start of such a release.
create table cursor_form (
  since timestamptz not null,
  only_one boolean not null default true primary key check (only_one)
);
