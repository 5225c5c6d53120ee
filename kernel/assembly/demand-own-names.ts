import type { AnyAggregate } from '../declare/aggregate.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { AnyView } from '../declare/view.ts';
import type { Sentences } from './refusals.ts';

/** Names that every object has: a lookup by one of them would find something undeclared. */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/** Refuses names that every object has. Runs on the raw declaration, before any lookup. */
export function* demandOwnNames({ roles, aggregates, views }: Declared): Sentences {
  for (const [place, name] of [
    ...roles.map((role) => ['the role', role] as const),
    ...aggregates.flatMap(namesIn),
    ...views.flatMap(({ view, key, values }) => [
      ['the view', view] as const,
      ...keysIn(view, { key, values }),
    ]),
  ])
    if (INHERITED.has(name))
      yield `${place} ${name} has the name of a property that every JavaScript object has: give it another name.`;
}

type Declared = {
  readonly roles: readonly string[];
  readonly aggregates: readonly AnyAggregate[];
  readonly views: readonly AnyView[];
};
type Named = readonly [place: string, name: string];

const namesIn = ({ kind, declaration, fields }: AnyAggregate): readonly Named[] => [
  ['the aggregate', kind],
  ...Object.values(declaration.names ?? {}).map((name) => [`${kind}: the name`, String(name)] as const),
  ...keysIn(kind, declaration),
  ...Object.values(fields).flatMap(({ def }) => wordsIn(kind, def)),
];

/** The declared names in each part of a declaration. */
const keysIn = (place: string, parts: Readonly<Record<string, unknown>>): readonly Named[] =>
  Object.entries(parts).flatMap(([part, named]) =>
    typeof named === 'object' && named !== null
      ? Object.keys(named).map((name) => [`${place}: in ${part},`, name] as const)
      : [],
  );

const wordsIn = (kind: string, { values = [], filter, one, item }: FieldDef): readonly Named[] => [
  ...[...values, filter, one]
    .filter((word) => typeof word === 'string')
    .map((word) => [`${kind}: the word`, word] as const),
  ...keysIn(kind, { items: item }),
  ...Object.values(item ?? {}).flatMap(({ def }) => wordsIn(kind, def)),
];
