import type { AggregateState } from '#kernel/decide/state.ts';
import type { Kind, ListInfo, Row } from '#kernel/registry/registry.ts';
import { type Asking, isHidden, mayAs, mayReadPart, partsOf, UnknownCondition } from './declared.ts';
import { itemsIn } from './forms.ts';
import type { Found, Planned, PlannedEvent, Situation } from './situations.ts';
import type { Actor, Stage } from './stage.ts';

/**
 * The events of a situation that are visible to somebody: of each event, to those who could read the state
 * before it, or can read the state after it. If only a part with its own right changed, that right decides.
 */
const visibleEvents = (stage: Stage, actor: Actor, situation: Situation): readonly PlannedEvent[] => {
  if (actor.token === undefined) return [];
  const asking = planned(stage, actor);
  const { kind } = situation;
  const isReadable = (state: AggregateState, parts: readonly string[] | undefined): boolean => {
    if (state.status !== 'present') return false;
    return parts === undefined
      ? mayAs(asking, kind, 'read', state.fields)
      : parts.some((part) => mayReadPart(asking, kind, part, state.fields));
  };
  return situation.steps
    .flatMap(({ events }) => events)
    .filter(({ before, after, isInternal }) => {
      const parts = partsChangedBy(kind, { before, after });
      return !isInternal && (isReadable(before, parts) || isReadable(after, parts));
    });
};

/** Undefined if the declaration has conditions that this suite cannot evaluate. */
export const visibleEventsIfKnown = (
  ...[stage, actor, situation]: Parameters<typeof visibleEvents>
): readonly PlannedEvent[] | undefined => {
  try {
    return visibleEvents(stage, actor, situation);
  } catch (error) {
    if (error instanceof UnknownCondition) return undefined;
    throw error;
  }
};

/** The users as the search planned them. */
export const planned = (
  { domain, found }: Pick<Stage, 'domain' | 'found'>,
  { key, role }: Pick<Actor, 'key' | 'role'>,
): Asking => ({
  domain,
  role,
  callerId: personIn(found, key)?.id ?? null,
  find(kind, id) {
    if (kind === 'user') {
      const person = found.persons.find((each) => each.id === id);
      return person && { id: person.id, role: person.role, name: person.key };
    }
    return found.byId.get(Number(id))?.state.fields;
  },
});

const personIn = ({ persons }: Found, key: string): Planned | undefined =>
  persons.find((person) => person.key === key);

type Changed = { readonly before: AggregateState; readonly after: AggregateState };

/**
 * If only parts with narrower rights were changed: those rights, one of which a reader needs to see the
 * change. Otherwise undefined.
 */
const partsChangedBy = (kind: Kind, { before, after }: Changed): readonly string[] | undefined => {
  if (before.status !== 'present' || after.status !== 'present') return undefined;
  const derived = new Set(kind.derived.map(({ name }) => name));
  const fields = Object.keys(kind.fields).filter(
    (name) => !derived.has(name) && differ(before.fields[name], after.fields[name]),
  );
  const parts = [
    ...fields.map((name) => partsOf(kind).find(({ reads }) => reads.includes(name))?.name),
    ...Object.values(kind.lists).flatMap((list) =>
      itemsChanged(list, [before.fields, after.fields]).map((item) => partOf(kind, list, item)),
    ),
  ];
  const known = parts.filter((part) => part !== undefined);
  return known.length === 0 || known.length < parts.length ? undefined : [...new Set(known)];
};

const partOf = (kind: Kind, { name }: ListInfo, item: Row): string | undefined =>
  partsOf(kind).find(
    ({ reads, items }) => reads.includes(name) || (items[name] !== undefined && isHidden(items[name], item)),
  )?.name;

/** The added, changed and removed items. */
const itemsChanged = (list: ListInfo, [before, after]: readonly [Row, Row]): readonly Row[] => {
  const [was, is] = [before, after].map(
    (fields) => new Map(itemsIn(fields, list).map((item) => [item.id, item])),
  );
  const ids = new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])]);
  return [...ids].flatMap((id) =>
    differ(was?.get(id), is?.get(id)) ? [(is?.get(id) ?? was?.get(id)) as Row] : [],
  );
};

const differ = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) !== JSON.stringify(other ?? null);
