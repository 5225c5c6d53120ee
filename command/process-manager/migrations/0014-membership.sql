-- The memberships of the domain, each by its meaning, and the position after which all its children are noted in process_manager.member.
create table process_manager.membership (
  meaning text collate "C" primary key,
  after_position bigint not null
);
