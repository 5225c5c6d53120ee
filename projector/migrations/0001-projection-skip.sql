-- Events that every projection leaves out, because an operator said so: they could not be taken in, and the rest of their stream can.
create table projection_skip (
  stream text collate "C" not null,
  version integer not null,
  position bigint not null,
  reason text not null,
  at timestamptz not null default now(),
  primary key (stream, version)
);
