import type { AggregateState } from '#kernel/decide/state.ts';
import { partsChangedBy } from './changed-parts.ts';
import { type Asking, mayAs, mayReadPart, UnknownCondition } from './declared.ts';
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
