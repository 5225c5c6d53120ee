-- When an administrator deactivated the account: until it is reactivated nobody signs in to it, and no token of it is accepted.
alter table auth.person add column deactivated_at timestamptz;
