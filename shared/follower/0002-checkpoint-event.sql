-- Which event the checkpoint is at. It counts while event_position is the position: an earlier release moves that alone.
alter table follower_checkpoint add column event uuid;
alter table follower_checkpoint add column event_position bigint;
