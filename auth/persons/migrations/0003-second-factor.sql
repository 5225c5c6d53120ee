-- What somebody has beside the password: the secret of an app that shows codes, sealed by the key of the person. `last_step` is the time step
-- of the last code that was accepted: none of that step or an earlier one is accepted again.
create table auth.second_factor (
  user_id   bigint      primary key,
  sealed    bytea       not null,
  last_step bigint      not null,
  made_at   timestamptz not null default now()
);

-- Codes for who has lost the app, by a keyed digest; using one removes it.
create table auth.recovery_code (
  user_id bigint not null,
  digest  bytea  not null,
  primary key (user_id, digest)
);
