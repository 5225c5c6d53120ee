-- When a process worked by this declaration last.
alter table process_manager.reacting add column seen_at timestamptz;
