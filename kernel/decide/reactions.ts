import type { Actor } from '../base/events/metadata.ts';
import { wire } from '../base/names.ts';
import type { Domain, EventInfo, Kind, ListInfo, Row } from '../registry/registry.ts';
import { type Fact, fingerprintOf } from './fingerprint.ts';
import { endsWithTarget, membershipOf, type Reaction, type Reference, reactionsIn } from './memberships.ts';
import { schedulesOf } from './schedules.ts';
import { followsFields } from './timers.ts';

/** The target of a reference after an event. */
type Leading = {
  readonly targetKind: string;
  /** The stored name of the reference, with its item if it is in a list: `collection.items.article/3`. */
  nameIn(data: Row): string;
  /** Null if the reference has no target now; undefined if the event does not change it. */
  idIn(data: Row, actor: Actor): unknown;
};

/** The reactions and timers that follow from events, by type, except memberships; schedules are in the fingerprint alone. */
export type Following = {
  /** The targets of references with reactions, as events set them. */
  readonly leads: ReadonlyMap<string, readonly Leading[]>;
  /** Types of events that end an aggregate, after which nothing follows for it. */
  readonly ends: ReadonlySet<string>;
  /** By type of event: the references through which aggregates react to it. */
  readonly reactions: ReadonlyMap<string, readonly string[]>;
  /** The references by which an aggregate ends with its parent, also if the event was imported. */
  readonly parents: ReadonlyMap<string, readonly string[]>;
  /** Ends that also trigger reactions of aggregates that start to refer to the target later. */
  readonly lastingEnds: ReadonlySet<string>;
  /** Types of events that may change the timers of an aggregate. */
  readonly timed: ReadonlySet<string>;
  /** Types of events that trigger code. */
  readonly coded: ReadonlySet<string>;
  /** Fingerprint of all of this: stored references and due timers are valid only for the same declaration. */
  readonly fingerprint: string;
};

/** For example `claim.team` and `collection.items.article`. */
const referenceOf = ({ name }: Kind, path: string): string => `${name}.${path}`;

/** Undefined if nothing follows from any event. */
export const followingOf = (domain: Domain): Following | undefined => {
  const reactions = reactionsIn(domain).filter((reaction) => membershipOf(reaction) === undefined);
  const kinds = Object.values(domain.kinds);
  const coded = kinds.flatMap((kind) =>
    Object.keys(kind.react).flatMap((event) => kind.events[event]?.type ?? []),
  );
  const timed = kinds.flatMap(timedBy);
  if (reactions.length + coded.length + timed.length + schedulesOf(domain).length === 0) return undefined;
  const references = new Map(
    reactions.map((reaction) => [referenceOf(reaction.kind, reaction.path), reaction]),
  );
  const leads = [...references.values()].flatMap(leadsOf);
  const referring = new Set(reactions.map(({ kind }) => kind));
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
    reactions: namesByType(reactions),
    parents: namesByType(reactions.filter(endsWithTarget)),
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

const namesByType = (reactions: readonly Reaction[]): ReadonlyMap<string, readonly string[]> =>
  new Map(
    [...Map.groupBy(reactions, ({ event }) => event.type)].map(([type, all]) => [
      type,
      all.map(({ kind, path }) => referenceOf(kind, path)),
    ]),
  );

/** Any event may start or end a pause, or change a field that a timer follows. */
const timedBy = ({ timers, events }: Kind): readonly string[] => {
  const all = Object.values(timers);
  const isByState = all.some((timer) => timer.pause !== undefined || followsFields(timer));
  const starting = new Set(all.flatMap(({ starts }) => ('after' in starts ? starts.after : [])));
  return Object.values(events).flatMap(({ type, effect }) =>
    isByState || starting.has(type) || (all.length > 0 && effect === 'ends') ? [type] : [],
  );
};

/** The last element describes the meaning, for the fingerprint. */
type Leads = readonly [type: string, Leading, meaning: Fact];

const leadsOf = (reaction: Reaction): readonly Leads[] => {
  const { kind, path, target, reference } = reaction;
  const { list } = reference;
  const sourceOf = list === undefined ? wayOfAggregate(reaction) : sourceOfItems(reference, list);
  const name = referenceOf(kind, path);
  const nameIn: Leading['nameIn'] =
    list === undefined ? () => name : (data) => `${name}/${encodeURIComponent(String(data[list.id.name]))}`;
  return Object.values(kind.events).flatMap((event): readonly Leads[] => {
    const source = sourceOf(event);
    if (source === undefined) return [];
    const { type, version } = event;
    return [
      [
        type,
        { targetKind: target.name, nameIn, idIn: idBy(source) },
        ['leads', type, version, name, target.name, list?.id.name, source],
      ],
    ];
  });
};

/**
 * The source of a reference’s target: the actor of the event, a constant, or a key of its data. In a
 * creation, a missing key means no target.
 */
type TargetSource =
  | readonly ['caller']
  | readonly ['always', id: unknown]
  | readonly ['creates' | 'changes', key: string];

const idBy = (source: TargetSource): Leading['idIn'] => {
  switch (source[0]) {
    case 'caller':
      return (_, actor) => (actor.startsWith('user:') ? Number(actor.slice('user:'.length)) : null);
    case 'always':
      return () => source[1];
    case 'creates':
      return (data) => data[source[1]] ?? null;
    case 'changes':
      return (data) => data[source[1]];
  }
};

type TargetSourceOf = (event: EventInfo) => TargetSource | undefined;

/** An added item keeps its target until it changes or is removed. */
const sourceOfItems = ({ def, field }: Reference, list: ListInfo): TargetSourceOf => {
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

const wayOfAggregate = ({ kind, path: field }: Reaction): TargetSourceOf => {
  const key = wire(field, kind.fields[field]);
  return (event) => {
    const set = event.sets[field];
    if (set !== undefined) return set === 'caller' ? ['caller'] : ['always', set];
    if (event.effect === 'creates') return ['creates', key];
    return event.values.includes(field) ? ['changes', key] : undefined;
  };
};
