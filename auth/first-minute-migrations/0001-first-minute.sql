create schema if not exists auth;

-- Whether development has left something here, until production has removed it; at most one row.
create table auth.first_minute (
  only_row boolean primary key default true check (only_row),
  -- The person whose password is in DATA_DIR, once it is known who that is.
  author bigint
);
