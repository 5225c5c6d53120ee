-- When the checkpoint came where it is. As the event, it counts while event_position is the position.
alter table follower_checkpoint add column moved_at timestamptz;
