create schema if not exists auth;

-- What oidc-provider keeps: codes, refresh tokens, grants, sessions, interactions. Nobody who reads the table can present any of
-- them: a name is kept as its keyed digest, and the content is sealed under a key derived from MASTER_KEY.
create table auth.record (
  kind        text        not null,
  id_hash     bytea       not null,
  sealed      bytea       not null,
  -- Of device codes: the code that a person types in; of sessions: their public name.
  other_hash  bytea,
  grant_id    text,
  account_id  text,
  client_id   text,
  consumed_at timestamptz,
  -- Of device codes: 0 waits for a person, 1 is in the hands of one, 2 is decided.
  stage       smallint    not null default 0,
  expires_at  timestamptz,
  primary key (kind, id_hash)
);

create unique index record_by_other_name on auth.record (kind, other_hash) where other_hash is not null;
create index record_by_grant on auth.record (grant_id) where grant_id is not null;
create index record_by_account on auth.record (account_id) where account_id is not null;
create index record_by_client on auth.record (client_id) where client_id is not null;
create index record_by_expiry on auth.record (expires_at);

-- When each device code was last polled, and how long its device must wait between polls (RFC 8628, section 3.5).
create table auth.device_poll (
  id_hash    bytea       primary key,
  polled_at  timestamptz not null,
  interval_s integer     not null,
  too_soon   boolean     not null default false,
  expires_at timestamptz not null
);

create index device_poll_by_expiry on auth.device_poll (expires_at);

-- The proofs and assertions that were used, by a digest of who used them and their jti; each is used once.
create table auth.used_once (
  digest     bytea       primary key,
  expires_at timestamptz not null
);

create index used_once_by_expiry on auth.used_once (expires_at);
