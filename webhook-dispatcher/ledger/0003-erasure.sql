-- Whose personal data a change has when it is told in full: what receivers have answered to that may repeat it, and goes with them.
alter table webhook_ledger.message add column person_id bigint;
update webhook_ledger.message set person_id = case
  when change ~ '"type":"user\.' then substring(change from '"userId":(\d{1,16})')
  when change ~ '"type":"comment\.' then substring(change from '"authorId":(\d{1,16})')
  when change ~ '"type":"webhook\.' then substring(change from '"ownerId":(\d{1,16})')
end::bigint;
create index message_by_person on webhook_ledger.message (person_id) where person_id is not null;

-- PostgreSQL keeps samples of what is in a column for its planner, longer than the rows are there. Another type takes those away, and
-- the same type is one.
alter table webhook_ledger.attempt
  alter column error type text,
  alter column request_headers type jsonb,
  alter column response_headers type jsonb,
  alter column response_body type bytea;
alter table webhook_ledger.attempt
  alter column error set statistics 0,
  alter column request_headers set statistics 0,
  alter column response_headers set statistics 0,
  alter column response_body set statistics 0;
alter table webhook_ledger.delivery alter column last_error type text;
alter table webhook_ledger.delivery alter column last_error set statistics 0;
