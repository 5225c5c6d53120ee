-- When somebody first showed that they read mail to the address of the account: by a link for a new password, for a sign-up, or of an invitation.
alter table auth.person add column confirmed_at timestamptz;
