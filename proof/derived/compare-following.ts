import type { Position, StreamName } from '#kernel/base/brands.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { EVENT_INDEX } from '#shared/event-index/event-index.ts';
import { FIRST, type RecordedEvent } from '#shared/event-log/event-log.ts';
import { REACTIONS } from '#shared/process-manager/followers.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';
import { compareTwice, missingEnds } from './compare-known.ts';
import { type FollowingDependencies, foldHistory, followingOf, kindOf } from './expected-references.ts';
import { compareTimers, type FoundTimers } from './expected-timers.ts';

const REFERENCE = 'process_manager.reference';
const ENDED = 'process_manager.ended';

/**
 * Compares what the process manager knows of aggregates that begin in these events, by which reactions and
 * timers happen: where their references lead, which targets have ended, and which timers run.
 */
export const compareFollowing = async (
  dependencies: FollowingDependencies,
  events: readonly RecordedEvent[],
): Promise<readonly DerivedFinding[]> => {
  const following = followingOf(dependencies.domain);
  if (following === undefined) return [];
  const kinds = followedKinds(dependencies.domain);
  const begun = events.flatMap(({ stream, version }) =>
    version === FIRST && kinds.has(kindOf(dependencies.domain, stream)?.name ?? '') ? [stream] : [],
  );
  const byStream = Map.groupBy(events, ({ stream }) => stream);
  const found = await compareTwice(begun, (some, isFirst) =>
    compareStreams(dependencies, some, isFirst ? byStream : undefined),
  );
  const ended = await missingEnds(
    dependencies,
    events.filter(({ type }) => following.lastingEnds.has(type)),
    {
      table: ENDED,
      isDue: `position <= (select c.position from public.follower_checkpoint c, process_manager.reacting r
         where c.follower = '${REACTIONS}' and c.log = $3 and r.fingerprint = $4)`,
      values: [dependencies.eventLog.identity, following.fingerprint],
    },
  );
  return [...found, ...ended];
};

/** The kinds of aggregates with references that lead to reactions, or with timers. */
const followedKinds = oncePer((domain: Domain): ReadonlySet<string> => {
  const following = followingOf(domain);
  return new Set(
    Object.values(domain.kinds).flatMap(({ name, events }) =>
      Object.values(events).some(({ type }) => following?.leads.has(type) || following?.timed.has(type))
        ? [name]
        : [],
    ),
  );
});

/** The findings of each stream. One that ended within the known events, by the index, need not be read. */
const compareStreams = async (
  dependencies: FollowingDependencies,
  streams: readonly StreamName[],
  known: ReadonlyMap<StreamName, readonly RecordedEvent[]> = new Map(),
): Promise<readonly (readonly DerivedFinding[])[]> => {
  const seen = await readSeen(dependencies, streams);
  return Promise.all(
    streams.map(async (stream, index) => {
      const row = seen[index];
      if (row === undefined) return [];
      const events = known.get(stream);
      const isKnown = events !== undefined && events.at(-1)?.position === row.lastPosition;
      const pages = isKnown ? [events] : dependencies.eventLog.read(stream);
      const history = await foldHistory(dependencies, { stream, pages, upTo: row.reached });
      return [
        ...(await compareReferences(dependencies, stream, { ...row, expected: history.references })),
        ...(await compareTimers(dependencies, stream, { ...row, history })),
      ];
    }),
  );
};

type Seen = FoundTimers & {
  /** The follower writes references in the transaction of this position. */
  readonly reached: Position;
  readonly references: Readonly<Record<string, StreamName>>;
  /** Of the stream, by the index; null if that lags behind the follower. */
  readonly lastPosition: Position | null;
};

/** Of one moment; none if no process follows this log by the present declaration. */
const readSeen = async (
  { pool, eventLog, domain, clock }: FollowingDependencies,
  streams: readonly StreamName[],
): Promise<readonly Seen[]> => {
  const { rows } = await pool.query<Seen>({
    name: 'verify-following',
    text: `select c.position as reached, r.after_position as "actsAfter",
       (extract(epoch from statement_timestamp()) * 1000)::float8 + $4 as "nowMs",
       case when c.position <=
           (select i.position from public.follower_checkpoint i where i.follower = '${EVENT_INDEX}' and i.log = c.log)
         then (select max(e.position) from event_index.event e where e.stream = k.stream) end as "lastPosition",
       coalesce((select json_object_agg(f.name, f.parent) from ${REFERENCE} f where f.child = k.stream), '{}') as references,
       coalesce((select json_object_agg(t.name, json_build_object('causeId', t.cause_id,
         'dueMs', (extract(epoch from t.due_at) * 1000)::float8, 'leftMs', t.left_ms)) from process_manager.timer t where t.stream = k.stream), '{}') as timers,
       coalesce((select json_object_agg(s.name, s.cause_id) from process_manager.spent_timer s where s.stream = k.stream), '{}') as spent,
       exists (select from process_manager.timer_mark m where m.stream = k.stream)
         or exists (select from process_manager.task p where p.stream = k.stream and p.task = 'run' and p.name like 'timer%') as "isPending"
     from unnest($1::text[]) with ordinality as k (stream, number), process_manager.reacting r, public.follower_checkpoint c
     where c.follower = '${REACTIONS}' and c.log = $2 and r.fingerprint = $3 order by number`,
    values: [streams, eventLog.identity, followingOf(domain)?.fingerprint, clock?.aheadMs() ?? 0],
  });
  return rows;
};

const compareReferences = async (
  dependencies: FollowingDependencies,
  stream: StreamName,
  { references, expected }: Seen & { readonly expected: ReadonlyMap<string, StreamName> },
): Promise<readonly DerivedFinding[]> => {
  const names = [...new Set([...Object.keys(references), ...expected.keys()])];
  const differing = names.filter((name) => references[name] !== expected.get(name));
  if (differing.length === 0) return [];
  // One that leads to an ended target has no effect, and is gone if it led there before.
  const ended = await endedAmong(dependencies.pool, [...expected.values()]);
  return differing.flatMap((name): readonly DerivedFinding[] => {
    const [found, wanted] = [references[name], expected.get(name)];
    if (found === undefined && wanted !== undefined && ended.has(wanted)) return [];
    const kind =
      found === undefined ? 'derived_missing' : wanted === undefined ? 'derived_extra' : 'derived_different';
    const columns = kind === 'derived_different' ? ['parent'] : [];
    return [
      { kind, table: REFERENCE, key: `${stream} ${name}`, columns, stream, version: null, position: null },
    ];
  });
};

const endedAmong = async (pool: Pool, parents: readonly StreamName[]): Promise<ReadonlySet<StreamName>> => {
  const { rows } = await pool.query<{ parent: StreamName }>(
    `select parent from ${ENDED} where parent = any($1)`,
    [parents],
  );
  return new Set(rows.map(({ parent }) => parent));
};
