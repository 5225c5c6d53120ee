-- The proof that a process with the master key has written the row, as it is.
alter table auth.credential add column proof bytea;
alter table auth.sign_up add column proof bytea;
