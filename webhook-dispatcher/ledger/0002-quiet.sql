-- Of what happened up to there no webhook is told: it was taken over from another installation, whose webhooks were.
create table webhook_ledger.quiet (
  only_row boolean primary key default true check (only_row),
  log uuid not null,
  up_to_position bigint not null
);
