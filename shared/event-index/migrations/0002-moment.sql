-- The greatest time of a change up to and with an event: it never falls, so that a time is found without reading the log. A row for
-- each batch of the index is enough. A greater time than the true one costs only reading.
create table event_index.moment (
  -- Not unique, like that of an event.
  position bigint not null,
  -- Nothing where no event up to here says one.
  latest_at timestamptz
);
create index moment_by_position on event_index.moment (position);
create index moment_by_latest_at on event_index.moment (latest_at, position);
