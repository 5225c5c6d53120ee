-- What the process manager knows of the log up to its checkpoint: who belongs to whom, and whose parent is gone.
create schema process_manager;

-- An article under its author, a comment under its article, as long as both are there.
create table process_manager.member (
  parent text collate "C" not null,
  child text collate "C" not null,
  primary key (parent, child)
);

create table process_manager.deleted_parent (
  parent text collate "C" primary key
);
