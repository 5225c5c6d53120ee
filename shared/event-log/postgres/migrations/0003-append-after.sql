-- Appends as event_log.append does, unless the log has lost an event that the caller has seen: a standby without it was promoted, or an
-- older backup was restored. What the caller knows, and has decided on, is then in doubt.
create function event_log.append_after(
  seen_position bigint, seen_id uuid,
  streams text, expected text, offsets text, ids text, types text, datas text, metadatas text, sizes text
)
returns table (id uuid, version integer, "position" bigint)
language plpgsql as $$
begin
  if seen_position is not null and not exists (select from event_log.event e where e.position = seen_position and e.id = seen_id) then
    raise exception 'the event log has lost event % of position %', seen_id, seen_position using errcode = 'AN001';
  end if;
  return query select a.id, a.version, a.position from event_log.append(streams, expected, offsets, ids, types, datas, metadatas, sizes) a;
end $$;
