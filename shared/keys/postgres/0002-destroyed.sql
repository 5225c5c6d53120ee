-- Finds out at once whether somebody was erased recently.
create index person_key_destroyed on person_key (destroyed_at) where destroyed_at is not null;
