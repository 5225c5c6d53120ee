create schema if not exists auth;

-- Who can sign in, as the event log says. The e-mail address is a keyed hash; the version is that of the user's stream,
-- so that an older event never overwrites what a newer one has said.
create table auth.person (
  user_id bigint primary key check (user_id > 0),
  email_hash text collate "C" unique,
  role text not null check (role in ('reader', 'author', 'admin')),
  status text not null check (status in ('active', 'deleted')),
  version bigint not null
);

-- Argon2id as PHC strings.
create table auth.credential (
  user_id bigint primary key,
  phc text not null,
  changed_at timestamptz not null default now()
);

-- The password of a sign-up that has begun, until its user is registered. It is written first, so that a crash in
-- between leaves no account without a password: whoever sees the registration gives it to the user.
create table auth.sign_up (
  id text collate "C" primary key,
  phc text not null,
  begun_at timestamptz not null default now()
);

-- Attempts to guess something, by a keyed hash of who or what is counted: the theoretical arrival time of GCRA.
create table auth.attempt (
  key text collate "C" primary key,
  tat timestamptz not null
);
create index attempt_tat on auth.attempt (tat);
