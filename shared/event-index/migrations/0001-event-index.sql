-- Where each event of the log is, by what people look for: which no engine of the log can be asked. It has nothing that the log does not
-- have, and can be made again from it at any time.
create schema event_index;

create table event_index.event (
  -- Not unique, so that a copy of the log in another engine can give all of them other positions at once.
  position bigint not null,
  id uuid not null,
  stream text collate "C" not null,
  version integer not null,
  type text collate "C" not null,
  -- Nothing where an event is damaged so that it does not say.
  actor text collate "C",
  client text collate "C",
  correlation text collate "C"
);
create index event_by_position on event_index.event (position);
create index event_by_id on event_index.event (id);
create index event_by_stream on event_index.event (stream, position);
create index event_by_type on event_index.event (type, position);
create index event_by_actor on event_index.event (actor, position);
create index event_by_client on event_index.event (client, position) where client is not null;
create index event_by_correlation on event_index.event (correlation, position);
