-- The form of requests, so that the body of a delivery can be shown as it was sent.
alter table webhook_ledger.endpoint add column format text not null default 'annals';
