-- Keys of imported lines whose commands changed nothing. Those of other lines are in the log.
create table process_manager.import_passed (key text primary key);
