-- A Merkle tree over the events of the chain, in tiles (C2SP tlog-tiles). What fills no tile yet follows from the blocks.
create table audit.tile (
  level smallint not null check (level >= 0),
  index bigint not null check (index >= 0),
  -- 256 hashes, of leaves at level 0, and of full tiles of the level below at others. They do not compress.
  hashes bytea not null check (octet_length(hashes) = 256 * 32),
  -- The hash of this tile in the level above, so that it is read without the tile.
  root bytea not null check (octet_length(root) = 32),
  primary key (level, index)
);
alter table audit.tile alter column hashes set storage external;
create trigger append_only before update or delete or truncate on audit.tile for each statement execute function audit.refuse_change();

-- The newest head of the tree. It is replaced with every block, and never by an older one.
create table audit.tree_head (
  only_one boolean primary key default true check (only_one),
  size bigint not null,
  -- The signed note; nothing while a database that was restored has not reached the head outside it again.
  note text
) with (fillfactor = 50);
create trigger append_only before delete or truncate on audit.tree_head for each statement execute function audit.refuse_change();
create trigger only_grows before update on audit.tree_head for each row when (new.size < old.size) execute function audit.refuse_change();
