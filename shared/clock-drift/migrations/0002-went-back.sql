-- Events whose time is before that of the event before them in their stream: the clock of a process was set back, or two clocks differ.
create table clock.went_back (
  stream text collate "C" not null,
  version integer not null,
  at timestamptz not null,
  before timestamptz not null,
  primary key (stream, version)
);
