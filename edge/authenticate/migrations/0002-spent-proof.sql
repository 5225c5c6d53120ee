-- Proofs of possession that were used (RFC 9449, section 11.1), by a digest of their key and jti; each may be used once.
create table auth.spent_proof (
  digest     bytea       primary key,
  expires_at timestamptz not null
);

create index spent_proof_by_expiry on auth.spent_proof (expires_at);
