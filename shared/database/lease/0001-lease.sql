-- Who owns a piece of work that one process at a time may do. The epoch rises with every owner, and fences the writes of an earlier one.
create table lease (
  name text primary key,
  owner uuid not null,
  epoch bigint not null,
  expires_at timestamptz not null
);
