-- Histories of which this log has lost the end: by the identity that it had then, which is still its own until the operator has decided
-- (annals log renew). Cursors of a former one are refused by a code that says why.
create table event_log.lost_history (log uuid primary key, noticed_at timestamptz not null default clock_timestamp());
