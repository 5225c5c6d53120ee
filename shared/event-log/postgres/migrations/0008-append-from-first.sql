-- Appends as event_log.append_authentic does, from the first position on, also if somebody has inserted a row before it.
create function event_log.append_from_first(
  read_streams text, read_versions text,
  seen_position bigint, seen_id uuid,
  streams text, expected text, offsets text, ids text, types text, datas text, metadatas text, sizes text, macs text
)
returns table (id uuid, version integer, "position" bigint, recorded_at timestamptz, before_id uuid)
language plpgsql as $$
#variable_conflict use_column
declare
  head bigint;
  head_id uuid;
begin
  -- Held until the commit is visible. Each statement below sees everything committed before, because it starts after the lock is ours.
  perform pg_advisory_xact_lock(7305808869229538);
  if read_streams is not null and exists (
    select from rows from (string_to_table(read_streams, E'\x1e'), string_to_table(read_versions, E'\x1e')) as r (stream, version)
    where r.version::integer <> coalesce((select e.version from event_log.event e where e.stream = r.stream order by e.version desc limit 1), 0)
  ) then
    return;
  end if;
  if seen_position is not null and not exists (select from event_log.event e where e.position = seen_position and e.id = seen_id) then
    raise exception 'the event log has lost event % of position %', seen_id, seen_position using errcode = 'AN001';
  end if;
  select e.position, e.id into head, head_id from event_log.event e where e.position > 0 order by e.position desc limit 1;

  return query
  insert into event_log.event as stored (position, stream, version, id, type, data, metadata, bytes, mac)
  select coalesce(head, 0) + row_number() over (), p.stream, present.version + p.ahead::integer, p.id::uuid, p.type, p.data::json, p.metadata::json,
    p.bytes::integer, decode(p.mac, 'hex')
  from rows from (
    string_to_table(streams, E'\x1e'), string_to_table(expected, E'\x1e'), string_to_table(offsets, E'\x1e'), string_to_table(ids, E'\x1e'),
    string_to_table(types, E'\x1e'), string_to_table(datas, E'\x1e'), string_to_table(metadatas, E'\x1e'), string_to_table(sizes, E'\x1e'),
    string_to_table(macs, E'\x1e')
  ) as p (stream, expected, ahead, id, type, data, metadata, bytes, mac)
  cross join lateral (
    select coalesce((select e.version from event_log.event e where e.stream = p.stream order by e.version desc limit 1), 0) as version
  ) present
  where p.expected::integer in (present.version, -1)
  returning stored.id, stored.version, stored.position, stored.recorded_at, head_id;
end $$;
