-- The events about which an operator has decided at once: their digests of 32 bytes each, in order, by the hash over all
-- of them. The statement names the hash, so that nobody without the master key adds an event.
create table decided_events (
  sha256 bytea primary key,
  digests bytea not null
);
