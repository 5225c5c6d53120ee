-- How far each follower of the event log is. It moves in the transaction of what the follower writes.
create table follower_checkpoint (
  follower text collate "C" primary key,
  log uuid not null,
  position bigint not null,
  epoch bigint not null
);
