-- Appends a batch as `append` does, with the columns beside each entry instead of read from it: one statement for all rows.
-- An array of items is written as `{7,8}`, because rows of an array have one length.
create function read_log.append_rows(
  writer_id uuid, number_of_batch bigint,
  entries text[], times timestamptz[], kinds text[], items text[], readers bigint[]
) returns bigint
language plpgsql as $$
declare
  first bigint;
  chain bytea;
  hashes bytea[];
begin
  select count, hash into strict first, chain from read_log.head for update;
  insert into read_log.writer as known (id, batch) values (writer_id, number_of_batch)
    on conflict (id) do update set batch = excluded.batch, at = now() where known.batch < excluded.batch;
  if not found then return first; end if;
  for place in 1 .. cardinality(entries) loop
    chain := sha256(chain || int8send(first + place) || convert_to(entries[place], 'UTF8'));
    hashes[place] := chain;
  end loop;
  insert into read_log.entry (number, entry, at, kind, items, reader, hash)
    select first + place, added.entry, added.at, added.kind, added.items::bigint[], added.reader, added.hash
    from unnest(entries, times, kinds, items, readers, hashes)
      with ordinality as added(entry, at, kind, items, reader, hash, place);
  update read_log.head set count = first + cardinality(entries), hash = chain;
  return first + cardinality(entries);
end $$;
