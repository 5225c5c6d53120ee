-- Which roles there are, the domain says.
alter table auth.person drop constraint person_role_check;
alter table auth.invitation drop constraint invitation_role_check;
