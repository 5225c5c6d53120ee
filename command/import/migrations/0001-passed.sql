-- Keys of lines whose commands changed nothing. Those of other lines are in the log.
create table if not exists public.import_passed (key text primary key);
