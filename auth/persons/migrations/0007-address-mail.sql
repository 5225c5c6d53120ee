-- Mail about a change of somebody that may be one of their address: it is sent, and then removed, by whichever process comes first.
create table auth.address_mail (
  user_id    bigint      not null,
  -- Of the user's stream: the event that changed something.
  version    integer     not null,
  told_at    text        not null check (told_at in ('former', 'new')),
  attempts   integer     not null default 0,
  due_at     timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  primary key (user_id, version, told_at)
);

create index address_mail_by_due on auth.address_mail (due_at);
create index address_mail_by_expiry on auth.address_mail (expires_at);
