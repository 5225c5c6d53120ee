import { oneOf, targetOf } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import { type AnyAggregate, declarerOf } from '../declare/aggregate.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Kind } from '../registry/registry.ts';

type Assembled = {
  readonly user: AnyAggregate;
  readonly aggregates: readonly AnyAggregate[];
  readonly domain: string;
};

/** Refuses references out of the domain, and parents below which nothing could be created. */
export const demandReferences = (kinds: readonly Kind[], { user, aggregates, domain }: Assembled): void => {
  const all = [user, ...aggregates];
  const [wrong] = [
    ...aggregates
      .filter((each) => declarerOf(each) !== declarerOf(user))
      .map(({ kind }) => `${kind}: it ${foreign(domain)}`),
    ...all.flatMap((each) => strayingFrom(all, each)),
    ...kinds.flatMap((kind) => wrongParent(kinds, kind).map((each) => `${kind.name}: ${each}`)),
  ];
  if (wrong !== undefined) throw new StartRefused(wrong);
};

const foreign = (domain: string): string =>
  `was declared with the \`aggregate\` of another \`domain()\`: declare it with the \`aggregate\` of ${domain}.`;

const strayingFrom = (all: readonly AnyAggregate[], { kind, fields }: AnyAggregate): readonly string[] =>
  referencesIn(fields).flatMap(([name, def]) => {
    const place = `${kind}: the reference ${name}`;
    const target = all.find((each) => each.kind === targetOf(def));
    if (target === undefined)
      return [
        `${place} leads to ${targetOf(def)}, which is not in the domain: add it to \`assemble\`, or remove the reference.`,
      ];
    return typeof def.target === 'string' || def.target === target
      ? []
      : [
          `${place} leads to a different ${target.kind} than the one in the domain: refer to the one in the domain, or use its name.`,
        ];
  });

/** Includes the references of items. */
const referencesIn = (fields: AnyAggregate['fields']): readonly (readonly [string, FieldDef])[] =>
  Object.entries(fields).flatMap(([name, { def }]) => {
    const ofItems = referencesIn(def.item ?? {}).map(([field, each]) => [`${name}.${field}`, each] as const);
    return def.kind === 'ref' ? [[name, def] as const] : ofItems;
  });

/** An aggregate is created below its parent, so the parent must be creatable first. */
const wrongParent = (kinds: readonly Kind[], kind: Kind): readonly string[] => {
  const { parent } = kind;
  if (parent === undefined) return [];
  const def = kind.fields[parent];
  if (def?.kind !== 'ref') return [`the parent ${parent} is not one of its references: use one of them.`];
  if (def.optional)
    return [
      `the parent ${parent} is optional(), but aggregates are created under their parent: make it required, or remove \`parent\`.`,
    ];
  const above = aboveOf(kinds, [kind]);
  return above.at(-1) === kind && above.length > 1
    ? [
        `the parent ${parent} leads back to ${oneOf(kind.name)}, through ${above.map(({ name }) => name).join(', ')}, so none of them can be created first: remove \`parent\` from one of them.`,
      ]
    : [];
};

/** The chain of parents; in a circle it ends with the kind that repeats. */
const aboveOf = (kinds: readonly Kind[], passed: readonly [Kind, ...Kind[]]): readonly Kind[] => {
  const at = passed.at(-1) ?? passed[0];
  const def = at.parent === undefined ? undefined : at.fields[at.parent];
  const next = kinds.find(({ name }) => def !== undefined && name === targetOf(def));
  if (next === undefined) return passed;
  return passed.includes(next) ? [...passed, next] : aboveOf(kinds, [...passed, next]);
};
