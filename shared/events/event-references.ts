import { spaced, wire } from '#kernel/registry/names.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';

/** A filter of events by what they name: an aggregate with all that stands under it, what belongs to a user, or a user. */
export type EventReference = {
  readonly name: string;
  /** For documentation. */
  readonly says: string;
  /** Of which kind it is itself, where what happens to it counts too. */
  readonly kind: string | undefined;
  /** What else counts, and under which name its events have the id. */
  readonly of: ReadonlyMap<string, string>;
  /** What stands under it, as topics are named. */
  readonly under: readonly string[];
};

export const eventReferencesOf = (domain: Domain): readonly EventReference[] => {
  const kinds = Object.values(domain.kinds).filter(({ name }) => name !== 'user');
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
    { name: 'user', says: 'Only what happened to this user.', kind: 'user', of: new Map(), under: [] },
  ];
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
          says: `Only what happened to this ${spaced(kind.name)} and to its ${listed(children)}.`,
          kind: kind.name,
          of: keysIn(children, ({ parent }) => parent),
          under: children.map(({ plural }) => plural),
        },
      ];

const ownerOf = (owner: string, kinds: readonly Kind[]): EventReference => ({
  name: owner,
  says: `Only what happened to ${listed(kinds)} of this user.`,
  kind: undefined,
  of: keysIn(kinds, () => owner),
  under: [],
});

const keysIn = (kinds: readonly Kind[], referenceOf: (kind: Kind) => string | undefined): ReadonlyMap<string, string> =>
  new Map(
    kinds.flatMap((kind) => {
      const reference = referenceOf(kind);
      return reference === undefined ? [] : [[kind.name, wire(reference, kind.fields[reference])] as const];
    }),
  );

const listed = (kinds: readonly Kind[]): string =>
  kinds
    .map(({ plural }) => spaced(plural))
    .join(', ')
    .replace(/, ([^,]*)$/, ' and $1');
