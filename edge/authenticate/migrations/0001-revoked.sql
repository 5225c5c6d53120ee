create schema if not exists auth;

-- What resource servers must refuse though its signature and lifetime are right. Rows are kept until every token they concern has expired.
create table auth.revoked (
  kind       text        not null check (kind in ('jti', 'grant', 'client', 'user')),
  value      text        not null check (length(value) between 1 and 200),
  -- Of a client or a user this ends the tokens issued up to now; those issued afterwards are good.
  revoked_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  primary key (kind, value)
);

create index revoked_by_time on auth.revoked (revoked_at);
create index revoked_by_expiry on auth.revoked (expires_at);
