-- Personal access tokens, by their SHA-256: each is 256 random bits. The name is sealed by the key of the person. A token has the role that its
-- user has when it is used, so none is kept here.
create table auth.personal_token (
  id         text        collate "C" primary key,
  user_id    bigint      not null,
  digest     bytea       not null unique,
  sealed     bytea       not null,
  scopes     text[]      not null,
  made_at    timestamptz not null default now(),
  expires_at timestamptz not null,
  -- To within some minutes: it is not written for each request.
  used_at    timestamptz
);

create index personal_token_by_user on auth.personal_token (user_id);
create index personal_token_by_expiry on auth.personal_token (expires_at);
