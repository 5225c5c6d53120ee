// Over 200 lines, because it is one question for each table of the process manager: which rows no event explains.
import type { EventId, Position, StreamName } from '#kernel/base/brands.ts';
import { kindIn } from '#kernel/base/events/streams.ts';
import { belongingIn, membershipsOf } from '#kernel/decide/memberships.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { REACTIONS } from '#shared/process-manager/followers.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';
import { type FollowingDependencies, followingOf, leadsOf } from './expected-references.ts';
import { findExtraScheduled } from './find-extra-scheduled.ts';

type Dependencies = FollowingDependencies & {
  readonly eventLog: Pick<EventLog, 'identity' | 'read' | 'head'>;
};

const LISTED_MAX = 100;
const [MEMBER, GONE, ENDED] = [
  'process_manager.member',
  'process_manager.deleted_parent',
  'process_manager.ended',
];

/**
 * Rows of the process manager that no event explains. The index of events proposes them, because it is fast;
 * it may lag, so the log decides.
 */
export const findExtraConsequences = async (
  dependencies: Dependencies,
): Promise<readonly DerivedFinding[]> => [
  ...(await findExtraMembers(dependencies)),
  ...(await findExtraEnds(dependencies)),
  ...(await findStrangers(dependencies, 'process_manager.timer', 'stream', 'name')),
  ...(await findStrangers(dependencies, 'process_manager.reference', 'child', 'name')),
  ...(await findExtraTasks(dependencies)),
  ...(await findExtraScheduled(dependencies)),
  ...(await findExtraParked(dependencies)),
  ...(await findLaterBeginning(dependencies)),
];

const extra = (table: string, key: string): DerivedFinding => ({
  ...{ kind: 'derived_extra', table, key, columns: [], stream: null, version: null, position: null },
});

/** Children that are not in the log, have ended, or have another parent. */
const findExtraMembers = async ({
  pool,
  eventLog,
  domain,
}: Dependencies): Promise<readonly DerivedFinding[]> => {
  const memberships = membershipsOf(domain);
  const { rows } = await pool.query<{ parent: StreamName; child: StreamName }>(
    `select parent, child from ${MEMBER} m
     where not exists (select from event_index.event e where e.stream = m.child)
       or not exists (select from event_index.event e where e.stream = m.parent)
       or child in (select child from ${MEMBER} group by child having count(*) > $1)
     limit ${LISTED_MAX}`,
    [
      Math.max(
        1,
        ...Map.groupBy(memberships, ({ kind }) => kind)
          .values()
          .map(({ length }) => length),
      ),
    ],
  );
  const found: DerivedFinding[] = [];
  for (const { parent, child } of rows) {
    const ofChild = memberships.filter(({ kind }) => kindIn(child) === kind);
    // A child whose kind only another release knows.
    if (ofChild.length === 0 && (await isThere(eventLog, child))) continue;
    const isChild = await someEvent(eventLog, child, ({ type, data }) =>
      ofChild.some(
        (membership) => membership.joins.has(type) && belongingIn(membership, data)?.parent === parent,
      ),
    );
    if (!isChild && (await isStillThere(pool, parent, child)))
      found.push(extra(MEMBER, `${parent} ${child}`));
  }
  return found;
};

const isStillThere = async (
  pool: Dependencies['pool'],
  parent: StreamName,
  child: StreamName,
): Promise<boolean> => {
  const { rowCount } = await pool.query(`select from ${MEMBER} where parent = $1 and child = $2`, [
    parent,
    child,
  ]);
  return rowCount === 1;
};

/** Ends of parents and of targets that did not happen. */
const findExtraEnds = async ({
  pool,
  eventLog,
  domain,
}: Dependencies): Promise<readonly DerivedFinding[]> => {
  const ends = [...new Set(membershipsOf(domain).map(({ parentEnd }) => parentEnd))];
  const { rows } = await pool.query<{ table: string; parent: StreamName; types: readonly string[] }>(
    `(select '${GONE}' as table, parent, $1::text[] as types from ${GONE} d
      where not exists (select from event_index.event e where e.stream = d.parent and e.type = any($1)) limit ${LISTED_MAX})
     union all
     (select '${ENDED}', parent, array[type] from ${ENDED} d
      where not exists (select from event_index.event e where e.stream = d.parent and e.type = d.type) limit ${LISTED_MAX})`,
    [ends],
  );
  const found: DerivedFinding[] = [];
  for (const { table, parent, types } of rows) {
    // A parent that only another release knows ends with an event that this one does not know as an end.
    if (table === GONE && !isKnown(domain, parent)) continue;
    if (!(await someEvent(eventLog, parent, ({ type }) => types.includes(type))))
      found.push(extra(table, parent));
  }
  return found;
};

const isKnown = (domain: Domain, stream: StreamName): boolean =>
  membershipsOf(domain).some(({ parentKind }) => kindIn(stream) === parentKind);

/** Rows about aggregates that are not in the log. */
const findStrangers = async (
  { pool, eventLog }: Dependencies,
  table: string,
  ofStream: string,
  name: string,
): Promise<readonly DerivedFinding[]> => {
  const { rows } = await pool.query<{ stream: StreamName; name: string }>(
    `select ${ofStream} as stream, ${name} as name from ${table} t
     where not exists (select from event_index.event e where e.stream = t.${ofStream}) limit ${LISTED_MAX}`,
  );
  const found: DerivedFinding[] = [];
  for (const row of rows)
    if (!(await isThere(eventLog, row.stream))) found.push(extra(table, `${row.stream} ${row.name}`));
  return found;
};

type Task = {
  readonly stream: StreamName;
  readonly name: string;
  readonly causeId: EventId;
  readonly causeStream: StreamName | null;
  readonly causeType: string | null;
};

const TASKS_MAX = 1_000;

/** Tasks that do not follow from the event that they name as their cause. */
const findExtraTasks = async (dependencies: Dependencies): Promise<readonly DerivedFinding[]> => {
  const { pool, eventLog, domain } = dependencies;
  const following = followingOf(domain);
  const { rows } = await pool.query<Task & { readonly isIndexed: boolean }>(
    `select t.stream, t.name, t.cause_id as "causeId", e.stream as "causeStream", e.type as "causeType",
       t.cause_position <= (select max(position) from event_index.event) as "isIndexed"
     from process_manager.task t left join event_index.event e on e.id = t.cause_id
     where t.task = 'run' and t.name like '% %' order by t.number limit ${TASKS_MAX}`,
  );
  const found: DerivedFinding[] = [];
  for (const { stream, name, causeStream, causeType, isIndexed } of rows) {
    const [reference = '', of = ''] = name.split(' ');
    const key = `${stream} ${name}`;
    if (causeStream === null) {
      if (isIndexed) found.push(extra('process_manager.task', key));
      continue;
    }
    // A field may have the name `timer` too: then the event of its reaction has a dot.
    if (causeStream === stream || (reference === 'timer' && !of.includes('.'))) {
      if (causeStream !== stream) found.push(extra('process_manager.task', key));
      continue;
    }
    const stored = `${kindIn(stream)}.${reference}`;
    // A task that is declared no longer has no effect.
    if (!following?.reactions.get(of)?.includes(stored.split('/')[0] ?? '')) continue;
    const led = await someEvent(eventLog, stream, (event) =>
      leadsOf(domain, event).some((lead) => lead.name === stored && lead.parent === causeStream),
    );
    if (causeType !== of || !led) found.push(extra('process_manager.task', key));
  }
  return found;
};

/** Parked ends of children, and erasures, that do not follow from their cause. */
const findExtraParked = async ({
  pool,
  eventLog,
  domain,
}: Dependencies): Promise<readonly DerivedFinding[]> => {
  const memberships = membershipsOf(domain);
  const { rows } = await pool.query<
    Omit<Task, 'name' | 'causeId'> & { readonly task: 'end' | 'erase'; readonly isIndexed: boolean }
  >(
    `select p.task, p.stream, e.stream as "causeStream", e.type as "causeType",
       p.parked_at < now() - interval '1 minute' as "isIndexed"
     from process_manager.parked p left join event_index.event e on e.id = p.cause_id limit ${TASKS_MAX}`,
  );
  const found: DerivedFinding[] = [];
  for (const { task, stream, causeStream, causeType, isIndexed } of rows) {
    const isOfCause =
      causeStream === null
        ? !isIndexed
        : task === 'erase'
          ? causeStream === stream && causeType === 'user.deleted'
          : causeType === 'account.reclaimed' ||
            causeStream === stream ||
            memberships.some(({ kind, parentEnd }) => parentEnd === causeType && kindIn(stream) === kind);
    if (!isOfCause || !(await isThere(eventLog, stream)))
      found.push(extra('process_manager.parked', `${task} ${stream}`));
  }
  return found;
};

/** Reactions can begin after the last event at most. */
const findLaterBeginning = async ({ pool, eventLog }: Dependencies): Promise<readonly DerivedFinding[]> => {
  const { rows } = await pool.query<{ after: Position }>(
    `select after_position as after from process_manager.reacting r
     where exists (select from public.follower_checkpoint c where c.follower = '${REACTIONS}' and c.log = $1)`,
    [eventLog.identity],
  );
  const [row] = rows;
  if (row === undefined || row.after <= (await eventLog.head())) return [];
  const table = 'process_manager.reacting';
  return [{ ...extra(table, 'after_position'), kind: 'derived_different', columns: ['after_position'] }];
};

const isThere = (eventLog: Dependencies['eventLog'], stream: StreamName): Promise<boolean> =>
  someEvent(eventLog, stream, () => true);

const someEvent = async (
  eventLog: Dependencies['eventLog'],
  stream: StreamName,
  is: (event: RecordedEvent) => boolean,
): Promise<boolean> => {
  for await (const page of eventLog.read(stream)) if (page.some(is)) return true;
  return false;
};
