-- What is to be sent where, and what came of it. Nothing here is personal: addresses, headers and secrets are in the log alone.
create schema webhook_ledger;

-- The webhooks as the planner has met them in the log, and what must outlive a run of one.
create table webhook_ledger.endpoint (
  webhook_id bigint primary key,
  owner_id bigint not null,
  -- Of its stream.
  version bigint not null,
  status text not null check (status in ('enabled', 'disabled', 'deleted')),
  event_types text[] not null,
  filter_article_id bigint,
  filter_author_id bigint,
  -- Of the token by which it was decided what goes where.
  scopes text[] not null,
  payload text not null check (payload in ('thin', 'full')),
  is_ordered boolean not null,
  rate_per_second integer not null,
  concurrency integer not null,
  -- Who runs it: only the run of this epoch may record, and nobody else begins one before `run_until`.
  run_epoch bigint not null default 0,
  run_until timestamptz not null default '-infinity',
  -- Nothing is sent before: it asked for a pause, its breaker is open, or its oldest delivery waits.
  not_before timestamptz not null default '-infinity',
  -- The pace of its rate goes on over runs.
  next_send_at timestamptz not null default '-infinity',
  breaker_openings integer not null default 0,
  -- Since when there were nothing but failures, and how many.
  failing_since timestamptz,
  failures_in_row integer not null default 0,
  -- Nothing is left of what the receiver of a deleted one has answered.
  is_forgotten boolean not null default false
);
create index endpoint_to_forget on webhook_ledger.endpoint (webhook_id) where status = 'deleted' and not is_forgotten;

-- A change that at least one webhook is told of, as the change stream told it: without its personal fields.
create table webhook_ledger.message (
  event_id uuid primary key,
  position bigint not null,
  -- Text, because jsonb refuses characters that a change may hold.
  change text not null,
  recorded_at timestamptz not null default now()
);

create index message_by_age on webhook_ledger.message (recorded_at);

create table webhook_ledger.delivery (
  webhook_id bigint not null,
  event_id uuid not null,
  position bigint not null,
  type text not null,
  subject text not null,
  state text not null default 'due' check (state in ('due', 'delivered', 'dead', 'withheld', 'dropped')),
  -- How often it was tried at all, and since it was last made due.
  attempts integer not null default 0,
  tries integer not null default 0,
  next_at timestamptz not null default now(),
  -- What the first attempt told, or is to tell: every later one tells the same.
  shape text check (shape in ('full', 'public', 'ids')),
  last_status integer,
  last_error text,
  replay_id uuid,
  created_at timestamptz not null default now(),
  delivered_at timestamptz,
  settled_at timestamptz,
  primary key (event_id, webhook_id)
);
create index delivery_due on webhook_ledger.delivery (webhook_id, next_at, position) where state = 'due';
-- For webhooks that are ordered.
create index delivery_due_in_order on webhook_ledger.delivery (webhook_id, position) where state = 'due';
create index delivery_by_position on webhook_ledger.delivery (webhook_id, position desc);
-- Dead letters, of which there are few, are listed and sent again among the many that have arrived.
create index delivery_given_up on webhook_ledger.delivery (webhook_id, position desc) where state in ('dead', 'withheld');
create index delivery_settled on webhook_ledger.delivery (settled_at) where state <> 'due';

create table webhook_ledger.attempt (
  webhook_id bigint not null,
  event_id uuid not null,
  number integer not null,
  at timestamptz not null,
  duration_ms integer not null,
  status integer,
  error text,
  -- Without signatures, and without the values of the owner's headers.
  request_headers jsonb not null,
  response_headers jsonb not null,
  -- The first 16 KiB of the answer, and one more byte where there was more.
  response_body bytea,
  primary key (webhook_id, event_id, number)
);

-- Deliveries that an owner asked for again: worked off page by page.
create table webhook_ledger.replay (
  -- That of the event that asked for it.
  id uuid primary key,
  webhook_id bigint not null,
  from_position bigint,
  to_position bigint not null,
  -- Only what happened then or later.
  from_time timestamptz,
  at_position bigint not null,
  planned integer not null default 0,
  state text not null default 'running' check (state in ('running', 'finished', 'dropped')),
  requested_at timestamptz not null,
  finished_at timestamptz
);
create index replay_by_webhook on webhook_ledger.replay (webhook_id, requested_at desc);
create index replay_running on webhook_ledger.replay (webhook_id, requested_at) where state = 'running';
