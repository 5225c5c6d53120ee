-- The access of development, sealed, for starts with another data folder.
alter table auth.first_minute add column sealed bytea;
