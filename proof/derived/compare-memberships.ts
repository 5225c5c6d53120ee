import { isDeepStrictEqual } from 'node:util';
import type { Position, StreamName } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { type Membership, membershipsOf } from '#kernel/decide/memberships.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { PROCESS_MANAGER } from '#shared/process-manager/followers.ts';
import { membershipText } from '#shared/process-manager/membership-text.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';
import type { FollowingDependencies } from './expected-references.ts';

const MEMBER = 'process_manager.member';
const GONE = 'process_manager.deleted_parent';
const CHILDREN_AT_ONCE = 16;

/**
 * Compares which children the process manager ends with their parents, and which parents have ended, with
 * these events, as far as it has followed the log. It acts before it records its position, so children of later
 * events may be noted or not.
 */
export const compareMemberships = async (
  dependencies: FollowingDependencies,
  events: readonly RecordedEvent[],
): Promise<readonly DerivedFinding[]> => {
  const memberships = membershipsOf(dependencies.domain);
  const links = events.flatMap((event) =>
    memberships.flatMap((membership) => linkOf(membership, event) ?? []),
  );
  const found = [...(await compareEnds(dependencies, memberships, events))];
  for (let from = 0; from < links.length; from += CHILDREN_AT_ONCE) {
    const some = links.slice(from, from + CHILDREN_AT_ONCE);
    const seen = await readSeen(dependencies, some);
    const wrong = await Promise.all(
      some.map(async (link, index) => {
        const first = await compareLink(dependencies, link, seen?.[index]);
        if (first === undefined) return [];
        const [again] = (await readSeen(dependencies, [link])) ?? [];
        return isDeepStrictEqual(first, await compareLink(dependencies, link, again)) ? [first] : [];
      }),
    );
    found.push(...wrong.flat());
  }
  return found;
};

type Link = {
  readonly membership: Membership;
  readonly parent: StreamName;
  readonly child: StreamName;
  readonly position: Position;
};

/** Undefined if the event begins no membership, or is damaged: then the process manager skips it. */
const linkOf = (
  membership: Membership,
  { type, data, position }: Pick<RecordedEvent, 'type' | 'data' | 'position'>,
): Link | undefined => {
  if (!membership.joins.has(type)) return undefined;
  const [parentId, childId] = [data?.[membership.parentKey], data?.[`${membership.kind}Id`]];
  if (!isId(parentId) || !isId(childId)) return undefined;
  const parent = streamName(membership.parentKind, parentId);
  return { membership, parent, child: streamName(membership.kind, childId), position };
};

const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

type Seen = {
  readonly reached: Position;
  readonly isThere: boolean;
  readonly isGone: boolean;
  readonly isParked: boolean;
  /** Null if the membership was declared later, or by another declaration. */
  readonly after: Position | null;
};

const readSeen = async (
  { pool, eventLog }: FollowingDependencies,
  links: readonly Link[],
): Promise<readonly Seen[] | undefined> => {
  const { rows } = await pool.query<Seen>({
    name: 'verify-memberships',
    text: `select c.position as reached,
       exists (select from ${MEMBER} m where m.parent = l.parent and m.child = l.child) as "isThere",
       exists (select from ${GONE} d where d.parent = l.parent) as "isGone",
       exists (select from process_manager.parked p where p.task = 'end' and p.stream = l.child) as "isParked",
       (select s.after_position from process_manager.membership s where s.meaning = l.meaning) as after
     from unnest($1::text[], $2::text[], $3::text[]) with ordinality as l (parent, child, meaning, number),
       public.follower_checkpoint c
     where c.follower = '${PROCESS_MANAGER}' and c.log = $4 order by number`,
    values: [
      links.map(({ parent }) => parent),
      links.map(({ child }) => child),
      links.map(({ membership }) => membershipText(membership)),
      eventLog.identity,
    ],
  });
  return rows.length === 0 ? undefined : rows;
};

const compareLink = async (
  dependencies: FollowingDependencies,
  link: Link,
  seen: Seen | undefined,
): Promise<DerivedFinding | undefined> => {
  if (seen === undefined || seen.after === null || link.position <= seen.after) return undefined;
  if (link.position > seen.reached) return undefined;
  const { parent, child } = link;
  const about = { table: MEMBER, key: `${parent} ${child}`, columns: [], position: null };
  const finding = (kind: DerivedFinding['kind']) => ({ kind, ...about, stream: child, version: null });
  if (!seen.isGone && seen.isThere) {
    // Most children have not ended: whether the row is one too many shows at the end of the others.
    return undefined;
  }
  const { isMember, isBound, isEnded, isSure } = await foldOf(dependencies, link, seen.reached);
  if (!isSure) return undefined;
  if (!seen.isGone) return isMember ? finding('derived_missing') : undefined;
  // A child outlives its parent if its end is neither recorded nor pending.
  if (isEnded || !isBound || seen.isParked) return undefined;
  return (await hasEnded(dependencies, link, seen.reached)) ? finding('derived_missing') : undefined;
};

type Folded = {
  readonly isMember: boolean;
  readonly isBound: boolean;
  readonly isEnded: boolean;
  /** False if a later event changes it, which the process manager may have followed already. */
  readonly isSure: boolean;
};

const foldOf = async (
  { eventLog }: FollowingDependencies,
  { membership, parent, child }: Link,
  upTo: Position,
): Promise<Folded> => {
  let folded: Folded = { isMember: false, isBound: false, isEnded: false, isSure: true };
  for await (const page of eventLog.read(child))
    for (const event of page) {
      const { type, position } = event;
      const joins = linkOf(membership, event)?.parent === parent;
      const ends = type === membership.end;
      const changes = membership.changes.has(type);
      if (!joins && !ends && !changes) continue;
      if (position > upTo) folded = { ...folded, isSure: false };
      if (joins) folded = { ...folded, isMember: true, isBound: true };
      else if (ends) folded = { ...folded, isMember: false, isBound: false, isEnded: true };
      else if (changes) folded = { ...folded, isBound: false };
    }
  return folded;
};

const hasEnded = async (
  { eventLog }: FollowingDependencies,
  { membership, parent }: Link,
  upTo: Position,
): Promise<boolean> => {
  for await (const page of eventLog.read(parent))
    if (page.some(({ type, position }) => type === membership.parentEnd && position <= upTo)) return true;
  return false;
};

/** Every parent that has ended must be known, so that its later children end too. */
const compareEnds = async (
  { pool, eventLog }: FollowingDependencies,
  memberships: readonly Membership[],
  events: readonly RecordedEvent[],
): Promise<readonly DerivedFinding[]> => {
  const kinds = new Map(memberships.map(({ parentEnd, parentKind }) => [parentEnd, parentKind]));
  const ends = events.filter(({ type, stream }) => stream.startsWith(`${kinds.get(type)}-`));
  if (ends.length === 0) return [];
  const { rows } = await pool.query<{ stream: StreamName }>(
    `select e.stream from unnest($1::text[], $2::bigint[]) as e (stream, position)
     where position <= (select c.position from public.follower_checkpoint c where c.follower = '${PROCESS_MANAGER}' and c.log = $3)
       and position > (select max(after_position) from process_manager.membership)
       and not exists (select from ${GONE} d where d.parent = e.stream)`,
    [ends.map(({ stream }) => stream), ends.map(({ position }) => position), eventLog.identity],
  );
  const missing = new Set(rows.map(({ stream }) => stream));
  return ends.flatMap(({ stream, version, position }): readonly DerivedFinding[] =>
    missing.has(stream)
      ? [{ kind: 'derived_missing', table: GONE, key: stream, columns: [], stream, version, position }]
      : [],
  );
};
