-- Parked tasks are not looked at before their time, however many they are: these are those that are due, and the first ones that were not tried yet.
create index task_due on process_manager.task (next_at) where skipped_at is null and next_at is not null;
create index task_untried on process_manager.task (stream, number) where skipped_at is null and next_at is null;
