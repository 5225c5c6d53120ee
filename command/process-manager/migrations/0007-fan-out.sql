-- How far the follower is with those who refer to an event to which very many react: they are noted in pages, each in a transaction of its own.
create table process_manager.fan_out (
  only_one boolean primary key default true check (only_one),
  -- Of the event.
  position bigint not null,
  -- The last one that was noted.
  child text collate "C" not null,
  name text collate "C" not null
);
-- `reference_to` is for processes of the former release.
create index reference_in_order on process_manager.reference (parent, child, name);
