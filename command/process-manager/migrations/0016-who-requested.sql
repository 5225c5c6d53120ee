-- Who has a schedule run beside its times: `user:1001`, or `system:command-line` for somebody at the machine.
alter table process_manager.schedule add column requested_by text collate "C";
alter table process_manager.schedule_run add column requested_by text collate "C";
