-- What proves the event log: a chain of hashes beside it, and heads of that chain which were signed. All of it can be made again
-- from the log, except the signatures.
create schema audit;

-- One batch of the follower that builds the chain. Positions are only where an event was found; the hashes do not depend on them.
create table audit.block (
  -- How many events the log has up to and with this block.
  count bigint primary key,
  events integer not null check (events > 0),
  first_position bigint not null,
  last_position bigint not null unique,
  -- The least and the greatest time of a change in this block; nothing where no event says one.
  first_at timestamptz,
  last_at timestamptz,
  -- The greatest time up to and with this block, which never falls, so that a time is found without looking at every block.
  latest_at timestamptz,
  -- 32 bytes for each event. They do not compress, and nobody should try.
  hashes bytea not null check (octet_length(hashes) = 32 * events),
  head bytea not null check (octet_length(head) = 32)
);
alter table audit.block alter column hashes set storage external;
create index block_by_latest_at on audit.block (latest_at, count);

create table audit.signing_key (
  -- The thumbprint of the public key (RFC 7638).
  id text collate "C" primary key,
  number integer not null unique generated always as identity,
  public_key text not null,
  -- The private key, wrapped under the master key.
  sealed bytea not null,
  made_at timestamptz not null,
  -- The key before it, which has signed this one; nothing for the first.
  endorsed_by text collate "C" references audit.signing_key,
  endorsement bytea,
  check ((endorsed_by is null) = (endorsement is null))
);

create table audit.head (
  count bigint primary key,
  -- RFC 8785 text, kept as it was signed.
  statement text not null,
  signature bytea not null,
  key_id text collate "C" not null references audit.signing_key
);

create function audit.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the proof of the event log is append-only: % refused', tg_op using errcode = 'restrict_violation';
end $$;

create trigger append_only before update or delete or truncate on audit.block for each statement execute function audit.refuse_change();
create trigger append_only before update or delete or truncate on audit.head for each statement execute function audit.refuse_change();
create trigger append_only before update or delete or truncate on audit.signing_key for each statement execute function audit.refuse_change();
