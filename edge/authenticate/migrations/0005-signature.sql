-- What persons are asked to sign, and how they have signed it, both encrypted. A row is found by the SHA-256 of its id, which is 256 random bits.
create table auth.signature (
  digest     bytea       primary key,
  user_id    bigint      not null,
  asked      bytea       not null,
  signed     bytea,
  expires_at timestamptz not null,
  -- The first event of the command that it was used for.
  used_by    uuid
);

create index signature_by_user on auth.signature (user_id);
create index signature_by_expiry on auth.signature (expires_at);
