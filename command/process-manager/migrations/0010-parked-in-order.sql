-- As they are listed, the latest first.
create index parked_in_order on process_manager.parked (parked_at, stream, task, cause_id);
create index task_in_order on process_manager.task (parked_at, stream, task, name, cause_id) where attempts > 0;
