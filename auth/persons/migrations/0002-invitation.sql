-- Who was invited to create an account. The address is sealed, and goes with the digest of the link and the hash of the address
-- as soon as the invitation is over: what is left says that there was one.
create table auth.invitation (
  id         text        collate "C" primary key,
  digest     bytea       unique,
  email_hash text        collate "C",
  sealed     bytea,
  role       text        not null check (role in ('reader', 'author', 'admin')),
  state      text        not null default 'open' check (state in ('open', 'accepted', 'revoked')),
  made_at    timestamptz not null default now(),
  expires_at timestamptz not null,
  check ((state = 'open') = (digest is not null and email_hash is not null and sealed is not null))
);

create unique index invitation_open_by_email on auth.invitation (email_hash) where state = 'open';
