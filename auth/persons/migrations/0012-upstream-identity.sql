-- Accounts at identity providers with which people sign in. Issuer, subject and the name that the page shows are sealed by the key of the person;
-- a sign-in finds them by a keyed digest. Without a user, the row is that of an account that is being created: its id makes that repeatable.
create table auth.upstream_identity (
  id            text        collate "C" primary key,
  user_id       bigint,
  upstream      text        collate "C" not null,
  identity_hash bytea       not null unique,
  sealed        bytea,
  linked_at     timestamptz not null default now(),
  used_at       timestamptz
);

create index upstream_identity_by_user on auth.upstream_identity (user_id);
