-- What of the heads is outside the database, as whoever publishes them has seen it last; for those who only show it.
create table audit.publication (
  only_one boolean primary key default true check (only_one),
  -- The newest head that is outside, and when it was signed.
  count bigint not null,
  at timestamptz,
  -- Why nothing is published; nothing while all is well.
  problem text,
  checked_at timestamptz not null
);
