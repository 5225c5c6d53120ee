-- What its owner sees of how a webhook does. The words of a failure stay with the attempt, from where an erasure takes them away.
alter table webhook_ledger.endpoint add column last_success_at timestamptz;
alter table webhook_ledger.endpoint add column last_failure_at timestamptz;
alter table webhook_ledger.endpoint add column last_failure_event uuid;
alter table webhook_ledger.endpoint add column last_failure_status integer;
