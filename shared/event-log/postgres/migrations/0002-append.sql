-- Appends many appends in one transaction and answers with what was stored; an append whose expectation does not hold stores nothing.
--
-- Each parameter is a column, one value per event, joined by U+001E, which JSON text never holds unescaped:
-- taking the columns apart like this costs less than half of unpacking a JSON document or an array of them.
-- A row is stored when the stream is at its expected version (-1 is any), and becomes the version `offsets` after the present one.
-- In one batch, a stream has either one append, or several that all expect any version: only then are the offsets right.
create function event_log.append(streams text, expected text, offsets text, ids text, types text, datas text, metadatas text, sizes text)
returns table (id uuid, version integer, "position" bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  head bigint;
begin
  -- Held until the commit is visible. Each statement below sees everything committed before, because it starts after the lock is ours.
  perform pg_advisory_xact_lock(7305808869229538);
  select coalesce(max(e.position), 0) into head from event_log.event e;

  return query
  insert into event_log.event as stored (position, stream, version, id, type, data, metadata, bytes)
  select head + row_number() over (), p.stream, present.version + p.ahead::integer, p.id::uuid, p.type, p.data::json, p.metadata::json, p.bytes::integer
  from rows from (
    string_to_table(streams, E'\x1e'), string_to_table(expected, E'\x1e'), string_to_table(offsets, E'\x1e'), string_to_table(ids, E'\x1e'),
    string_to_table(types, E'\x1e'), string_to_table(datas, E'\x1e'), string_to_table(metadatas, E'\x1e'), string_to_table(sizes, E'\x1e')
  ) as p (stream, expected, ahead, id, type, data, metadata, bytes)
  cross join lateral (
    select coalesce((select e.version from event_log.event e where e.stream = p.stream order by e.version desc limit 1), 0) as version
  ) present
  where p.expected::integer in (present.version, -1)
  returning stored.id, stored.version, stored.position;
end $$;
