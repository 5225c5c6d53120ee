import { isDeepStrictEqual } from 'node:util';
import type { Position, StreamName } from '#kernel/base/brands.ts';
import { followingOf } from '#kernel/decide/reactions.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { FIRST, type RecordedEvent } from '#shared/event-log/event-log.ts';
import { REACTIONS } from '#shared/process-manager/followers.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';
import { expectedReferences, type FollowingDependencies, kindOf } from './expected-references.ts';
import { compareTimers, type FoundTimers } from './expected-timers.ts';

const REFERENCE = 'process_manager.reference';
const ENDED = 'process_manager.ended';
const STREAMS_AT_ONCE = 16;

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
  const found: DerivedFinding[] = [];
  for (let from = 0; from < begun.length; from += STREAMS_AT_ONCE) {
    const some = begun.slice(from, from + STREAMS_AT_ONCE);
    found.push(...(await Promise.all(some.map((stream) => compareStream(dependencies, stream)))).flat());
  }
  const ends = events.filter(({ type }) => following.lastingEnds.has(type));
  return [...found, ...(await compareEnded(dependencies, ends))];
};

/** The kinds of aggregates with references that lead to reactions, or with timers. */
const followedKinds = (domain: Domain): ReadonlySet<string> => {
  const following = followingOf(domain);
  return new Set(
    Object.values(domain.kinds).flatMap(({ name, events }) =>
      Object.values(events).some(({ type }) => following?.leads.has(type) || following?.timed.has(type))
        ? [name]
        : [],
    ),
  );
};

const compareStream = async (
  dependencies: FollowingDependencies,
  stream: StreamName,
): Promise<readonly DerivedFinding[]> => {
  const found = await compareOnce(dependencies, stream);
  // A node of a cluster may lag behind the one from which the process manager has read.
  return found.length === 0 || isDeepStrictEqual(found, await compareOnce(dependencies, stream)) ? found : [];
};

const compareOnce = async (
  dependencies: FollowingDependencies,
  stream: StreamName,
): Promise<readonly DerivedFinding[]> => {
  const seen = await readSeen(dependencies, stream);
  if (seen === undefined) return [];
  return [
    ...(await compareReferences(dependencies, stream, seen)),
    ...(await compareTimers(dependencies, stream, seen)),
  ];
};

type Seen = FoundTimers & {
  /** The follower writes references in the transaction of this position. */
  readonly reached: Position;
  readonly references: Readonly<Record<string, StreamName>>;
};

/** Of one moment; undefined if no process follows this log by the present declaration. */
const readSeen = async (
  { pool, eventLog, domain, clock }: FollowingDependencies,
  stream: StreamName,
): Promise<Seen | undefined> => {
  const { rows } = await pool.query<Seen>({
    name: 'verify-following',
    text: `select c.position as reached, r.after_position as "actsAfter",
       (extract(epoch from statement_timestamp()) * 1000)::float8 + $4 as "nowMs",
       coalesce((select json_object_agg(f.name, f.parent) from ${REFERENCE} f where f.child = $1), '{}') as references,
       coalesce((select json_object_agg(t.name, json_build_object('causeId', t.cause_id,
         'dueMs', (extract(epoch from t.due_at) * 1000)::float8, 'leftMs', t.left_ms)) from process_manager.timer t where t.stream = $1), '{}') as timers,
       coalesce((select json_object_agg(s.name, s.cause_id) from process_manager.spent_timer s where s.stream = $1), '{}') as spent,
       exists (select from process_manager.timer_mark m where m.stream = $1)
         or exists (select from process_manager.task k where k.stream = $1 and k.task = 'run' and k.name like 'timer%') as "isPending"
     from process_manager.reacting r, public.follower_checkpoint c
     where c.follower = '${REACTIONS}' and c.log = $2 and r.fingerprint = $3`,
    values: [stream, eventLog.identity, followingOf(domain)?.fingerprint, clock?.aheadMs() ?? 0],
  });
  return rows[0];
};

const compareReferences = async (
  dependencies: FollowingDependencies,
  stream: StreamName,
  { reached, references }: Seen,
): Promise<readonly DerivedFinding[]> => {
  const expected = await expectedReferences(dependencies, stream, reached);
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

const compareEnded = async (
  { pool, eventLog, domain }: FollowingDependencies,
  ends: readonly RecordedEvent[],
): Promise<readonly DerivedFinding[]> => {
  if (ends.length === 0) return [];
  const { rows } = await pool.query<{ stream: StreamName }>(
    `select e.stream from unnest($1::text[], $2::bigint[]) as e (stream, position)
     where position <= (select c.position from public.follower_checkpoint c, process_manager.reacting r
         where c.follower = '${REACTIONS}' and c.log = $3 and r.fingerprint = $4)
       and not exists (select from ${ENDED} d where d.parent = e.stream)`,
    [
      ends.map(({ stream }) => stream),
      ends.map(({ position }) => position),
      eventLog.identity,
      followingOf(domain)?.fingerprint,
    ],
  );
  const missing = new Set(rows.map(({ stream }) => stream));
  return ends.flatMap(({ stream, version, position }): readonly DerivedFinding[] =>
    missing.has(stream)
      ? [{ kind: 'derived_missing', table: ENDED, key: stream, columns: [], stream, version, position }]
      : [],
  );
};
