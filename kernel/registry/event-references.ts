import type { StreamName } from '../base/brands.ts';
import { kindIn, streamName } from '../base/events/streams.ts';
import type { JsonObject } from '../base/json.ts';
import { spaced, wire } from '../base/names.ts';
import { isUser } from '../base/users.ts';
import type { Domain, Kind } from './registry.ts';

/**
 * A filter of events by a reference: an aggregate with all of its children, everything that belongs to a
 * user, or a user.
 */
export type EventReference = {
  readonly name: string;
  /** For documentation. */
  readonly says: string;
  /** A description of the other matching events. */
  readonly others: string;
  /** The kind of the reference’s own aggregate, if its events match too. */
  readonly kind: string | undefined;
  /**
   * The other matching kinds of streams, and the keys in their events that hold the id: of a child that moves,
   * also the key of its former parent.
   */
  readonly of: ReadonlyMap<string, readonly string[]>;
  /** The children’s topics. */
  readonly under: readonly string[];
};

export const eventReferencesOf = (domain: Domain): readonly EventReference[] => {
  const kinds = Object.values(domain.kinds).filter((kind) => !isUser(kind));
  const owners = new Set(kinds.flatMap(({ owner }) => owner ?? []));
  return [
    ...kinds.flatMap((kind) =>
      parentOf(
        kind,
        kinds.filter((each) => isUnder(each, kind)),
      ),
    ),
    ...[...owners].map((owner) =>
      ownerOf(
        owner,
        kinds.filter((kind) => kind.owner === owner),
      ),
    ),
    {
      name: 'user',
      says: 'Only events of this user.',
      others: '',
      kind: 'user',
      of: new Map(),
      under: [],
    },
  ];
};

/** Of webhooks: by the references in events of other aggregates, such as `articleId`. */
export type Filters = ReadonlyMap<string, EventReference>;

export const filtersOf = (domain: Domain): Filters =>
  new Map(
    eventReferencesOf(domain)
      .filter(({ of }) => of.size > 0)
      .map((reference) => [`${reference.name}Id`, reference]),
  );

type Happened = { readonly stream: StreamName; readonly data: JsonObject };

/** Whether an event happened to the aggregate with this id, or to one that matches with it. */
export const refersTo = ({ kind, of }: EventReference, id: number, { stream, data }: Happened): boolean => {
  if (kind !== undefined && stream === streamName(kind, id)) return true;
  const keys = of.get(kindIn(stream));
  return keys?.some((key) => data[key] === id) === true;
};

const isUnder = ({ parent, fields }: Kind, { name }: Kind): boolean => {
  const { target } = (parent === undefined ? undefined : fields[parent]) ?? {};
  return (typeof target === 'string' ? target : target?.kind) === name;
};

const parentOf = (kind: Kind, children: readonly Kind[]): readonly EventReference[] =>
  children.length === 0
    ? []
    : [
        {
          name: kind.name,
          says: `Only events of this ${spaced(kind.name)} and of its ${listed(children)}.`,
          others: listed(children),
          kind: kind.name,
          of: keysIn(children, ({ parent }) => parent),
          under: children.map(({ plural }) => plural),
        },
      ];

const ownerOf = (owner: string, kinds: readonly Kind[]): EventReference => ({
  name: owner,
  says: `Only events of ${listed(kinds)} of this user.`,
  others: listed(kinds),
  kind: undefined,
  of: keysIn(kinds, () => owner),
  under: [],
});

const keysIn = (
  kinds: readonly Kind[],
  referenceOf: (kind: Kind) => string | undefined,
): EventReference['of'] =>
  new Map(
    kinds.flatMap((kind) => {
      const reference = referenceOf(kind);
      if (reference === undefined) return [];
      const keys = reference === kind.parent ? parentKeysOf(kind) : [wire(reference, kind.fields[reference])];
      return [[kind.name, keys] as const];
    }),
  );

/** The keys in events that hold the id of the parent; of an event that moves a child, both parents are its. */
export const parentKeysOf = ({ parent, fields, events }: Kind): readonly string[] =>
  parent === undefined
    ? []
    : [
        ...new Set([
          wire(parent, fields[parent]),
          ...Object.values(events).flatMap(({ former }) => former ?? []),
        ]),
      ];

const listed = (kinds: readonly Kind[]): string =>
  kinds
    .map(({ plural }) => spaced(plural))
    .join(', ')
    .replace(/, ([^,]*)$/, ' and $1');
