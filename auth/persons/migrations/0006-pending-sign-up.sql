-- Sign-ups that wait for the link in the mail: name, address and the password's hash are sealed, and go when the link is used or expires.
create table auth.pending_sign_up (
  digest     bytea       primary key,
  sealed     bytea       not null,
  expires_at timestamptz not null
);

create index pending_sign_up_by_expiry on auth.pending_sign_up (expires_at);
