-- As they are listed: by time, paused ones last.
create index timer_in_order on process_manager.timer (coalesce(due_at, 'infinity'::timestamptz), stream, name);
