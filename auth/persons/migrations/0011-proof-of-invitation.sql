-- The proof that a process with the master key has written the row, as it is.
alter table auth.invitation add column proof bytea;
