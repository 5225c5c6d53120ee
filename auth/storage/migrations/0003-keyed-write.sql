-- Writes with an Idempotency-Key, by a keyed digest of the key and its owner. The response is sealed, because it may hold a secret.
create table auth.keyed_write (
  digest     bytea       primary key,
  -- A keyed digest of the request.
  content    bytea       not null,
  -- The execution that may complete it.
  attempt    uuid        not null,
  started_at timestamptz not null default now(),
  -- Null until the write is done.
  sealed     bytea,
  expires_at timestamptz not null
);

create index keyed_write_by_expiry on auth.keyed_write (expires_at);
