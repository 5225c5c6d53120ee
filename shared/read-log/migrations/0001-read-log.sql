-- Who has read which items of aggregates whose reads are logged, when, and by which request. Only a domain that logs reads has it.
create schema read_log;

create function read_log.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the log of reads is append-only' using errcode = 'insufficient_privilege';
end $$;

create table read_log.entry (
  number bigint primary key check (number > 0),
  -- The entry as it was recorded, in JSON. The columns after it repeat parts of it, for lookups.
  entry text not null,
  at timestamptz not null,
  kind text collate "C" not null,
  items bigint[] not null,
  reader bigint,
  -- SHA-256 of the hash before, the number and the entry.
  hash bytea not null check (octet_length(hash) = 32)
);
create index entry_by_item on read_log.entry using gin (items);
create index entry_by_reader on read_log.entry (reader, number) where reader is not null;
create index entry_by_time on read_log.entry (at);

-- The end of the chain, and where it begins: entries up to `expired` were removed after their retention.
create table read_log.head (
  only_one boolean primary key default true check (only_one),
  count bigint not null,
  hash bytea not null check (octet_length(hash) = 32),
  expired bigint not null default 0,
  expired_hash bytea not null check (octet_length(expired_hash) = 32)
) with (fillfactor = 50);
insert into read_log.head (count, hash, expired_hash)
values (0, sha256('annals read log 1'), sha256('annals read log 1'));

-- The last batch of each process that writes, so that a retry appends nothing twice.
create table read_log.writer (
  id uuid primary key,
  batch bigint not null,
  at timestamptz not null default now()
);

create trigger append_only before update or truncate on read_log.entry
  for each statement execute function read_log.refuse_change();
create trigger expires_only before delete on read_log.entry for each row
  when (current_setting('annals.expires_read_log', true) is distinct from 'yes')
  execute function read_log.refuse_change();
create trigger append_only before delete or truncate on read_log.head
  for each statement execute function read_log.refuse_change();
create trigger only_grows before update on read_log.head
  for each row when (new.count < old.count or new.expired < old.expired)
  execute function read_log.refuse_change();

-- Heads of the chain, signed by the keys of the audit.
create table read_log.signed_head (
  count bigint primary key check (count > 0),
  statement text not null,
  signature bytea not null
);
create trigger append_only before update or delete or truncate on read_log.signed_head
  for each statement execute function read_log.refuse_change();

-- Appends a batch, unless an attempt before has. Batches of several processes wait for each other.
create function read_log.append(writer_id uuid, number_of_batch bigint, entries text[]) returns bigint
language plpgsql as $$
declare
  last bigint;
  chain bytea;
  each text;
  parsed jsonb;
begin
  select count, hash into strict last, chain from read_log.head for update;
  insert into read_log.writer as known (id, batch) values (writer_id, number_of_batch)
    on conflict (id) do update set batch = excluded.batch, at = now() where known.batch < excluded.batch;
  if not found then return last; end if;
  foreach each in array entries loop
    last := last + 1;
    chain := sha256(chain || int8send(last) || convert_to(each, 'UTF8'));
    parsed := each::jsonb;
    insert into read_log.entry (number, entry, at, kind, items, reader, hash) values (
      last, each, (parsed->>'at')::timestamptz, parsed->>'kind',
      array(select jsonb_array_elements_text(parsed->'items')::bigint),
      (parsed->>'reader')::bigint, chain);
  end loop;
  update read_log.head set count = last, hash = chain;
  return last;
end $$;

-- Removes the oldest entries from before a time, a number of them at most; the chain begins after them.
create function read_log.expire(before timestamptz, number_max bigint) returns bigint
language plpgsql as $$
declare
  first bigint;
  last bigint;
begin
  select expired into strict first from read_log.head for update;
  select max(number) into last from (
    select number, at, bool_and(at < before) over (order by number) as is_old
    from read_log.entry where number > first order by number limit number_max
  ) oldest where is_old;
  if last is null then return 0; end if;
  update read_log.head set expired = last, expired_hash = (select hash from read_log.entry where number = last);
  perform set_config('annals.expires_read_log', 'yes', true);
  delete from read_log.entry where number <= last;
  perform set_config('annals.expires_read_log', '', true);
  return last - first;
end $$;
