create schema if not exists auth;

-- Links by which a new password can be chosen, by a keyed digest: nobody who reads the table can use one. Using one removes
-- all of that person, so that each is good once.
create table auth.password_reset (
  digest     bytea       primary key,
  user_id    bigint      not null,
  expires_at timestamptz not null
);

create index password_reset_by_user on auth.password_reset (user_id);
create index password_reset_by_expiry on auth.password_reset (expires_at);
