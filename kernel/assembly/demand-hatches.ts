import { targetOf, wire } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import { resolve } from '../conditions/expression.ts';
import { type FactAt, factsIn } from '../conditions/fold.ts';
import { rightsOf } from '../conditions/rights.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { FIELDS_OF_THE_KERNEL, FORM } from './demand-names.ts';

/** Refuses an author’s SQL or code if it conflicts with other parts of the declaration. */
export const demandHatches = (domain: Domain): void => {
  const kinds = Object.values(domain.kinds);
  const [wrong] = [
    ...kinds.flatMap((kind) => wrongNames(kinds, kind)),
    ...kinds.flatMap(wrongExpressions),
    ...kinds.flatMap(wrongProjections),
    ...kinds.flatMap((kind) => askedOf(domain, kind)),
  ];
  if (wrong !== undefined) throw new StartRefused(wrong);
};

/** Names that collide with other fields of the GraphQL type. */
const wrongNames = (kinds: readonly Kind[], kind: Kind): readonly string[] => {
  const { fields, lists } = kind;
  const wired = Object.keys(fields).map((field) => wire(field, fields[field]));
  const ofType = new Set([
    ...Object.keys(fields),
    ...wired,
    ...Object.keys(lists),
    ...kinds.flatMap(({ name, plural }) => [`${name}s`, plural]),
  ]);
  const isTaken = (name: string): boolean => !FORM.test(name) || FIELDS_OF_THE_KERNEL.has(name);
  return [
    ...kind.expressions
      .filter(({ name }) => isTaken(name) || ofType.has(name))
      .map(({ name }) => `the expression ${name}`),
    ...kind.filters.filter(({ name }) => !FORM.test(name)).map(({ name }) => `the filter ${name}`),
  ].map(
    (what) =>
      `${kind.name}: ${what} has a name that is already used or not valid in GraphQL: give it another name.`,
  );
};

/** Guarded data must not leak through expressions. */
const wrongExpressions = (kind: Kind): readonly string[] => {
  const guarded = new Set(
    Object.values(kind.fieldRights).flatMap(({ reads = [] }) => reads as readonly string[]),
  );
  return [
    ...kind.expressions.map((each) => ['expression', each] as const),
    ...kind.filters.map((each) => ['filter', each] as const),
  ].flatMap(([what, { name, uses }]) =>
    uses
      .filter((field) => guarded.has(field))
      .map(
        (field) =>
          `${kind.name}: the ${what} ${name} uses ${field}, which fewer callers may read than the ${kind.name}: remove ${field} from it.`,
      ),
  );
};

const PROJECTING: ReadonlySet<string> = new Set(['creates', 'changes', 'sets']);

const wrongProjections = (kind: Kind): readonly string[] =>
  Object.values(kind.events).flatMap((event) =>
    Object.keys(event.projects).flatMap((field): readonly string[] => {
      const place = `${kind.name}: the projection of ${field}`;
      const def = kind.fields[field];
      if (!PROJECTING.has(event.effect))
        return [
          `${place} uses the event ${event.name}, whose effect is \`${event.effect}\`: use an event with \`creates\`, \`changes\` or \`sets\`.`,
        ];
      if (def === undefined || def.kind === 'ref' || def.kind === 'states' || def.kind === 'upload')
        return [`${place} cannot set a reference, a state or an upload: let an event set it.`];
      if (def.personal !== undefined || def.unique)
        return [`${place} cannot set a personal or unique field: let a form or a decision set it.`];
      if (!def.optional && def.initial === undefined)
        return [`${place} needs an initial value: give the field a default, or make it optional().`];
      const other = Object.values(kind.events).find(
        ({ values, sets }) => values.includes(field) || field in sets,
      );
      return other === undefined
        ? []
        : [`${place} conflicts with the event ${other.name}, which also sets the field: keep one of them.`];
    }),
  );

/** Events decide visibility and commands, and they do not contain projected values. */
const askedOf = (domain: Domain, kind: Kind): readonly string[] =>
  conditionsOf(domain, kind).flatMap((each) => {
    const { of, field } = reached(domain, kind, each);
    const isProjected =
      of !== undefined && Object.values(of.events).some(({ projects }) => field in projects);
    return isProjected
      ? [
          `${kind.name}: a condition uses ${field} of the ${of.name}, which a projection computes: use a field that events set.`,
        ]
      : [];
  });

const conditionsOf = (domain: Domain, kind: Kind): readonly FactAt[] => {
  const { facts, commands, invariants, timers, reactions, limits } = kind;
  const declared = [
    ...Object.values(facts),
    ...Object.values(invariants),
    ...Object.values(commands).map(({ when }) => when),
    ...Object.values(timers).flatMap(({ while: during, pause }) => [during, pause]),
    ...Object.values(reactions).flatMap((byEvent) => Object.values(byEvent).map(({ when }) => when)),
    ...limits.map((limit) => limit.while),
  ].filter((each) => each !== undefined);
  const ofRights = [...rightsOf(domain).values()].flatMap(({ kind: of, alternatives }) =>
    of === kind ? alternatives : [],
  );
  const ofLimits = limits.flatMap(({ per }) => per.map((field) => ({ field, path: [] })));
  return [
    ...[...declared.map((each) => resolve(domain, kind, each)), ...ofRights].flatMap((each) => factsIn(each)),
    ...ofLimits,
  ];
};

/** Follows a path of references to its end. */
const reached = (
  domain: Domain,
  kind: Kind,
  { field, path }: FactAt,
): { readonly of: Kind | undefined; readonly field: string } => {
  const [first, ...others] = path;
  if (first === undefined) return { of: kind, field };
  const def = kind.fields[first];
  const target = def && domain.kinds[targetOf(def)];
  return target ? reached(domain, target, { field, path: others }) : { of: undefined, field };
};
