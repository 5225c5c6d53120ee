-- The messages to the inbox that were refused, without their content: the latest of each sender and code, for a while.
create table operations.refused_message (
  -- In the order of time.
  id uuid primary key,
  at timestamptz not null,
  sender text collate "C" not null,
  code text collate "C" not null,
  reason text not null,
  -- Of a verified message: nobody else could write them.
  message_id text,
  message_type text,
  -- Of the body, if it was read.
  bytes bigint,
  sha256 text,
  request text not null
);
create index refused_message_of_sender on operations.refused_message (sender, code, id);
create index refused_message_by_age on operations.refused_message (at);
