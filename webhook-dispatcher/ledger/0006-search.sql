-- Deliveries are searched over all webhooks, the latest first, and by the item that they are about. A change is written once, its
-- deliveries many times, so that these indexes are of changes. In the text, the stream comes before all that a domain can name.
create index message_by_position on webhook_ledger.message (position desc);
create index message_by_subject on webhook_ledger.message ((substring(change from '"stream":"([^"]*)"')), position desc);

-- How attempts went, by quarters of an hour: rates and charts are made of it without counting attempts.
create table webhook_ledger.tally (
  webhook_id bigint not null,
  at timestamptz not null,
  arrived integer not null default 0,
  failed integer not null default 0,
  -- Of all attempts together.
  duration_ms bigint not null default 0,
  primary key (webhook_id, at)
) with (fillfactor = 50);
create index tally_by_age on webhook_ledger.tally (at);
