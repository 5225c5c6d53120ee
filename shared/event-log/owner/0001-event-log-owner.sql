-- Names this installation in an event log on a server that it shares with others.
create table event_log_owner (
  id uuid not null default gen_random_uuid(),
  only_one boolean not null default true primary key check (only_one)
);
