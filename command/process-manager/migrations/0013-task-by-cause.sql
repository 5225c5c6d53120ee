-- The causes with tasks that were not tried yet, so that each has its turn.
create index task_by_cause on process_manager.task (cause_id, stream, number) where skipped_at is null and next_at is null;
