-- Where the checkpoint was at moved_at, which counts while this is the position: a release that knows nothing of moved_at moves the event as well.
alter table follower_checkpoint add column moved_position bigint;
