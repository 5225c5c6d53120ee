-- By which rights deliveries are planned, and the position after which they are: so that a verification knows which ones there must be.
create table webhook_ledger.planning (
  only_row boolean primary key default true check (only_row),
  rights text not null,
  after_position bigint not null
);
