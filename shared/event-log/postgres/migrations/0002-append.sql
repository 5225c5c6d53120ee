-- Appends many appends in one transaction, each with an outcome of its own.
-- A row of the batch is one event: a = its append, s = stream, x = expected version (-1 is any), i = id, t = type,
-- d = data and m = metadata as text, b = their bytes. In one batch only the first append of a stream may expect an exact version.
-- An append answers with the version and position of its last event, or with nulls where its expectation did not hold.
create function event_log.append(batch json)
returns table (append integer, last_version integer, last_position bigint)
language plpgsql as $$
declare
  head bigint;
begin
  -- Held until the commit is visible. Each statement below sees everything committed before, because it starts after the lock is ours.
  perform pg_advisory_xact_lock(7305808869229538);
  select coalesce(max(position), 0) into head from event_log.event;

  return query
  with proposed as materialized (
    select * from rows from (
      json_to_recordset(batch) as (a integer, s text, x integer, i uuid, t text, d text, m text, b integer)
    ) with ordinality as p (a, s, x, i, t, d, m, b, n)
  ), current as materialized (
    select s, coalesce((select e.version from event_log.event e where e.stream = s order by e.version desc limit 1), 0) as version
    from (select distinct s from proposed) streams
  ), intent as materialized (
    select p.a, p.s, p.x, count(*) as events,
      p.x = c.version or (p.x = -1 and not exists (
        select from proposed q join event_log.event e on e.id = q.i and e.stream = q.s where q.a = p.a
      )) as accepted
    from proposed p join current c on c.s = p.s
    group by p.a, p.s, p.x, c.version
  ), numbered as materialized (
    select p.a, p.s, p.i, p.t, p.d, p.m, p.b,
      head + row_number() over (order by p.n) as position,
      (c.version + row_number() over (partition by p.s order by p.n))::integer as version
    from proposed p join intent o on o.a = p.a and o.accepted join current c on c.s = p.s
  ), stored as (
    insert into event_log.event (position, stream, version, id, type, data, metadata, bytes)
    select n.position, n.s, n.version, n.i, n.t, n.d::json, n.m::json, n.b from numbered n order by n.position
  )
  select n.a, max(n.version), max(n.position) from numbered n group by n.a
  union all
  -- A repeat: every event of it is in the stream already, one after the other.
  select o.a, earlier.last_version, earlier.last_position
  from intent o left join lateral (
    select max(e.version) as last_version, max(e.position) as last_position
    from proposed q join event_log.event e on e.id = q.i and e.stream = q.s
    where q.a = o.a
    having count(*) = o.events and max(e.version) - min(e.version) + 1 = o.events
  ) earlier on true
  where not o.accepted;
end $$;
