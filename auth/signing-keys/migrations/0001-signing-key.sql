create schema if not exists auth;

-- The keys that tokens are signed with. When one signs and how long it stays published follows from the times alone, so every
-- process comes to the same answer; see signing-keys.ts.
create table auth.signing_key (
  kid        text        primary key,
  -- The private key as a JWK, sealed under a key derived from MASTER_KEY.
  sealed     bytea       not null,
  created_at timestamptz not null default clock_timestamp(),
  signs_from timestamptz not null unique
);
