-- From which event on the events of a log carry a MAC, as a statement that a process with the master key has authenticated. The folder of
-- the audit has it as well, and of two the one with the higher number counts: neither editing nor deleting a row makes an event authentic.
create table authentic_events (
  of_log uuid primary key,
  statement text not null,
  mac bytea not null
);
