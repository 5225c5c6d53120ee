-- Whether the link went to the address of the account. One that an operator hands over shows nothing about the address.
alter table auth.password_reset add column is_mailed boolean not null default false;
