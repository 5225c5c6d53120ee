-- Heads of the tree that an authority has stamped with the time (RFC 3161).
create table audit.time_stamp (
  log text not null,
  size bigint not null,
  -- What was stamped, byte by byte: the checkpoint with its signatures.
  note text not null,
  -- Whether enough witnesses had cosigned it.
  is_witnessed boolean not null,
  token bytea not null,
  -- The time in the token.
  stamped_at timestamptz not null,
  primary key (log, size)
);
create trigger append_only before update or delete or truncate on audit.time_stamp for each statement execute function audit.refuse_change();
