-- After which what follows from an event is in the log, if it was done before. Not known of tasks of before.
alter table process_manager.task add column cause_position bigint;
