import type { Position } from '#kernel/base/brands.ts';
import { kindIn } from '#kernel/base/events/streams.ts';
import {
  type Belonging,
  belongingIn,
  type Membership,
  membershipsOf,
  membershipText,
} from '#kernel/decide/memberships.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { PROCESS_MANAGER } from '#shared/process-manager/followers.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';
import { compareTwice, missingEnds } from './compare-known.ts';
import type { FollowingDependencies } from './expected-references.ts';

const MEMBER = 'process_manager.member';

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
  const kinds = new Map(memberships.map(({ parentEnd, parentKind }) => [parentEnd, parentKind]));
  // Every parent that has ended must be known, so that its later children end too.
  const missing = await missingEnds(
    dependencies,
    events.filter(({ type, stream }) => kinds.get(type) === kindIn(stream)),
    {
      table: 'process_manager.deleted_parent',
      isDue: `position <= (select c.position from public.follower_checkpoint c where c.follower = '${PROCESS_MANAGER}' and c.log = $3)
       and position > (select max(after_position) from process_manager.membership)`,
      values: [dependencies.eventLog.identity],
    },
  );
  const differing = await compareTwice(links, async (some) => {
    const seen = await readSeen(dependencies, some);
    return Promise.all(some.map((link, index) => compareLink(dependencies, link, seen?.[index])));
  });
  return [...missing, ...differing];
};

type Link = Belonging & { readonly membership: Membership; readonly position: Position };

/** Undefined if the event begins no membership, or is damaged: then the process manager skips it. */
const linkOf = (
  membership: Membership,
  { type, data, position }: Pick<RecordedEvent, 'type' | 'data' | 'position'>,
): Link | undefined => {
  const belonging = membership.joins.has(type) ? belongingIn(membership, data) : undefined;
  return belonging && { membership, ...belonging, position };
};

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
       exists (select from process_manager.deleted_parent d where d.parent = l.parent) as "isGone",
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
): Promise<readonly DerivedFinding[]> => {
  if (seen === undefined || seen.after === null || link.position <= seen.after) return [];
  if (link.position > seen.reached) return [];
  const { parent, child } = link;
  const about = { table: MEMBER, key: `${parent} ${child}`, columns: [], stream: child };
  const missing: readonly DerivedFinding[] = [
    { kind: 'derived_missing', ...about, version: null, position: null },
  ];
  if (!seen.isGone && seen.isThere) {
    // Most children have not ended: whether the row is one too many shows at the end of the others.
    return [];
  }
  const { isMember, isBound, isEnded, isSure } = await foldOf(dependencies, link, seen.reached);
  if (!isSure) return [];
  if (!seen.isGone) return isMember ? missing : [];
  // A child outlives its parent if its end is neither recorded nor pending.
  if (isEnded || !isBound || seen.isParked) return [];
  return (await hasEnded(dependencies, link, seen.reached)) ? missing : [];
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
