-- Appends as event_log.append_after does, if other streams are still at the versions at which they were read: what was decided on them
-- still holds. Whatever is appended to any stream waits for the same lock, so that nothing comes between the look and the append.
create function event_log.append_reading(
  read_streams text, read_versions text,
  seen_position bigint, seen_id uuid,
  streams text, expected text, offsets text, ids text, types text, datas text, metadatas text, sizes text
)
returns table (id uuid, version integer, "position" bigint)
language plpgsql as $$
begin
  -- The lock of event_log.append, which takes it once more.
  perform pg_advisory_xact_lock(7305808869229538);
  if exists (
    select from rows from (string_to_table(read_streams, E'\x1e'), string_to_table(read_versions, E'\x1e')) as r (stream, version)
    where r.version::integer <> coalesce((select e.version from event_log.event e where e.stream = r.stream order by e.version desc limit 1), 0)
  ) then
    return;
  end if;
  return query
    select a.id, a.version, a.position
    from event_log.append_after(seen_position, seen_id, streams, expected, offsets, ids, types, datas, metadatas, sizes) a;
end $$;
