-- Followers begin after position 0: nobody would read an earlier event, but commands of its stream would.
alter table event_log.event add constraint event_position_positive check (position > 0) not valid;
