-- In a transaction of its own, so that appends go on while the events of before are checked.
alter table event_log.event validate constraint event_position_positive;
