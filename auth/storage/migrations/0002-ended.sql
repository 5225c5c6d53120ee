-- When a session or a grant ended. Its row stays for a while, empty: whoever loaded it before, and saves it now, finds that it has
-- ended instead of bringing it back.
alter table auth.record add column ended_at timestamptz;
