-- Timers that have run out, by the event that started them, unless the event of their command says so: what was refused, or was not to be done, is
-- not done later. They outlive a changed declaration.
create table process_manager.spent_timer (
  stream text collate "C" not null,
  name text collate "C" not null,
  cause_id uuid not null,
  primary key (stream, name)
);
