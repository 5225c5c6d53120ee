-- When a client last got a token, to within an hour; also of the console, which is in no table.
create table auth.client_use (
  client_id text        primary key,
  used_at   timestamptz not null
);
