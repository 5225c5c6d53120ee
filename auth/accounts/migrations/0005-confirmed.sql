-- When somebody first showed that they read mail to the address of the account: by a link for a new password, for a sign-up, or of an invitation.
alter table auth.person add column confirmed_at timestamptz;

-- Whoever set up codes before this was known keeps them at the first link for a new password.
update auth.person set confirmed_at = now() where exists (select from auth.second_factor where second_factor.user_id = person.user_id);
