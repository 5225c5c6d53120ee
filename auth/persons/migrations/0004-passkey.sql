-- Passkeys of people, several each. What the authenticator gave and how they call it is sealed by the key of the person; a sign-in, which does
-- not say who comes, finds one by a keyed digest of its name there. The counter only grows: one that does not is a copy.
create table auth.passkey (
  id              text        collate "C" primary key,
  user_id         bigint      not null,
  credential_hash bytea       not null unique,
  sealed          bytea       not null,
  counter         bigint      not null,
  made_at         timestamptz not null default now(),
  used_at         timestamptz
);

create index passkey_by_user on auth.passkey (user_id);
