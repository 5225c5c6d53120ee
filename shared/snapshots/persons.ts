import type { UserId } from '#kernel/base/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { subjectOf } from '#shared/events/codec.ts';
import { PERSONS_MAX, type Snapshots } from './snapshots.ts';

/**
 * The persons whose data a state may contain; undefined if not all of its events were seen, or the persons
 * are too many.
 */
export type Persons = ReadonlySet<UserId> | undefined;

type Events = readonly Pick<RecordedEvent, 'data'>[];

/** Adds those of further events; returns the same set if there is nobody new. */
export const personsWith = (persons: Persons, events: Events, erased?: ReadonlySet<UserId>): Persons => {
  if (persons === undefined) return undefined;
  const others = subjectsIn(events).filter((person) => !persons.has(person) && !erased?.has(person));
  const all = others.length === 0 ? persons : new Set([...persons, ...others]);
  return all.size > PERSONS_MAX ? undefined : all;
};

/**
 * Called before the events are decoded, so that a person who is erased by then has left nothing in the state.
 */
export const personsAfter = async (
  snapshots: Pick<Snapshots, 'erasedAmong'> | undefined,
  persons: Persons,
  events: Events,
): Promise<Persons> => {
  if (persons === undefined || snapshots === undefined) return persons;
  return personsWith(persons, events, await snapshots.erasedAmong([...new Set(subjectsIn(events))]));
};

const subjectsIn = (events: Events): readonly UserId[] => events.flatMap((event) => subjectOf(event) ?? []);
