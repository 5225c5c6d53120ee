import type { Actor } from '#shared/events/metadata.ts';
import { wire } from '../registry/names.ts';
import type { Domain, EventInfo, Kind, ListInfo, Row } from '../registry/registry.ts';
import { type Fact, fingerprintOf } from './fingerprint.ts';
import { membershipOf, type Reaction, type Reference, reactionsIn } from './memberships.ts';

/** Where a reference leads once an event has happened; null if it leads nowhere. */
export type Leading = {
  readonly targetKind: string;
  /** As it is known, with the item that it is of if it is one of a list: `collection.items.article/3`. */
  nameIn(data: Row): string;
  /** Undefined if the event leaves it as it was. */
  idIn(data: Row, actor: Actor): unknown;
};

/** What follows from events, by their types, beyond what ends with its parent. */
export type Following = {
  /** What an event says of the references by which reactions go. */
  readonly leads: ReadonlyMap<string, readonly Leading[]>;
  /** After these nothing follows for the aggregate any more. */
  readonly ends: ReadonlySet<string>;
  /** By the type of the event: which aggregates react to it, by the reference that leads them to it. */
  readonly reactions: ReadonlyMap<string, readonly string[]>;
  /** The ends to which something reacts, also what refers to it only later. */
  readonly lastingEnds: ReadonlySet<string>;
  /** The types after which the timers of an aggregate may stand otherwise. */
  readonly timed: ReadonlySet<string>;
  /** The types to which code reacts. */
  readonly coded: ReadonlySet<string>;
  /** Of all of this: what is known, and to be done, by one declaration is not what is by another. */
  readonly fingerprint: string;
};

/** `claim.team`, `collection.items.article`. */
export const referenceOf = ({ name }: Kind, path: string): string => `${name}.${path}`;

/** Nothing if nothing follows from any event. */
export const followingOf = (domain: Domain): Following | undefined => {
  const reactions = reactionsIn(domain).filter((reaction) => membershipOf(reaction) === undefined);
  const kinds = Object.values(domain.kinds);
  const coded = kinds.flatMap((kind) =>
    Object.keys(kind.react).flatMap((event) => kind.events[event]?.type ?? []),
  );
  const timed = kinds.flatMap(timedBy);
  if (reactions.length + coded.length + timed.length === 0) return undefined;
  const references = new Map(
    reactions.map((reaction) => [referenceOf(reaction.kind, reaction.path), reaction]),
  );
  const leads = [...references.values()].flatMap(leadsOf);
  const referring = new Set(reactions.map(({ kind }) => kind));
  const byType = Map.groupBy(reactions, ({ event }) => event.type);
  const ends = [...referring].flatMap(({ events }) =>
    Object.values(events).flatMap(({ effect, type }) => (effect === 'ends' ? [type] : [])),
  );
  return {
    leads: new Map(
      [...Map.groupBy(leads, ([type]) => type)].map(([type, all]) => [
        type,
        all.map(([, leading]) => leading),
      ]),
    ),
    ends: new Set(ends),
    reactions: new Map(
      [...byType].map(([type, all]) => [type, all.map(({ kind, path }) => referenceOf(kind, path))]),
    ),
    lastingEnds: new Set(reactions.flatMap(({ event }) => (event.effect === 'ends' ? [event.type] : []))),
    coded: new Set(coded),
    timed: new Set(timed),
    fingerprint: fingerprintOf(domain, reactions, [
      ...leads.map(([, , meaning]) => meaning),
      ...ends.map((type) => ['ends', type]),
      ...timed.map((type) => ['timed', type]),
    ]),
  };
};

/** A pause may begin and end with any event. */
const timedBy = ({ timers, events }: Kind): readonly string[] => {
  const all = Object.values(timers);
  const isPaused = all.some(({ pause }) => pause !== undefined);
  return Object.values(events).flatMap(({ type, effect }) =>
    isPaused || all.some(({ after }) => after === type) || (all.length > 0 && effect === 'ends')
      ? [type]
      : [],
  );
};

/** The last says all of it, for the fingerprint. */
type Leads = readonly [type: string, Leading, meaning: Fact];

const leadsOf = (reaction: Reaction): readonly Leads[] => {
  const { kind, path, target, reference } = reaction;
  const { list } = reference;
  const wayOf = list === undefined ? wayOfAggregate(reaction) : wayOfItems(reference, list);
  const name = referenceOf(kind, path);
  const nameIn: Leading['nameIn'] =
    list === undefined ? () => name : (data) => `${name}/${encodeURIComponent(String(data[list.id.name]))}`;
  return Object.values(kind.events).flatMap((event): readonly Leads[] => {
    const way = wayOf(event);
    if (way === undefined) return [];
    const { type, version } = event;
    return [
      [
        type,
        { targetKind: target.name, nameIn, idIn: idBy(way) },
        ['leads', type, version, name, target.name, list?.id.name, way],
      ],
    ];
  });
};

/**
 * How an event says where a reference leads: whoever caused it, always the same, or a key of its data; one
 * that must be there leads nowhere without it.
 */
type Way =
  | readonly ['caller']
  | readonly ['always', id: unknown]
  | readonly ['creates' | 'changes', key: string];

const idBy = (way: Way): Leading['idIn'] => {
  switch (way[0]) {
    case 'caller':
      return (_, actor) => (actor.startsWith('user:') ? Number(actor.slice('user:'.length)) : null);
    case 'always':
      return () => way[1];
    case 'creates':
      return (data) => data[way[1]] ?? null;
    case 'changes':
      return (data) => data[way[1]];
  }
};

type WayOf = (event: EventInfo) => Way | undefined;

/** What is added refers to something until it is changed or removed. */
const wayOfItems = ({ def, field }: Reference, list: ListInfo): WayOf => {
  const key = wire(field, def);
  return (event) => {
    if (event.list !== list) return undefined;
    switch (event.effect) {
      case 'adds':
        return ['creates', key];
      case 'updates':
        return field === list.key ? undefined : ['changes', key];
      case 'removes':
        return ['always', null];
      default:
        return undefined;
    }
  };
};

const wayOfAggregate = ({ kind, path: field }: Reaction): WayOf => {
  const key = wire(field, kind.fields[field]);
  return (event) => {
    const set = event.sets[field];
    if (set !== undefined) return set === 'caller' ? ['caller'] : ['always', set];
    if (event.effect === 'creates') return ['creates', key];
    return event.values.includes(field) ? ['changes', key] : undefined;
  };
};
