import { oneOf, targetOf } from '../base/names.ts';
import { isUser } from '../base/users.ts';
import type { AnyAggregate } from '../declare/aggregate.ts';
import { declarerOf } from '../declare/declare.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { eachKind, placed, type Sentences } from './refusals.ts';

/** Refuses references out of the domain. */
export function* demandReferences(domain: string, all: readonly AnyAggregate[]): Sentences {
  const [user] = all;
  for (const each of all)
    if (user !== undefined && declarerOf(each) !== declarerOf(user))
      yield `${each.kind}: it was declared with the \`aggregate\` of another \`domain()\`: declare it with the \`aggregate\` of ${domain}.`;
  for (const { kind, fields, declaration } of all)
    for (const [name, def] of referencesIn(fields)) {
      const place = `${kind}: the reference ${name} leads to`;
      const target = all.find((each) => each.kind === targetOf(def));
      if (target === undefined)
        return yield `${place} ${targetOf(def)}, which is not in the domain: add it to \`assemble\`, or remove the reference.`;
      if (typeof def.target !== 'string' && def.target !== target)
        yield `${place} a different ${target.kind} than the one in the domain: refer to the one in the domain, or use its name.`;
      if (def.gone !== undefined)
        yield* placed(
          `${kind}: the reference ${name} has \`gone\``,
          wrongEnd(kind, name, def, { ...declaration, target }),
        );
    }
}

/** Only aggregates lose a target by an event of their own. */
function* wrongEnd(
  kind: string,
  name: string,
  { gone }: FieldDef,
  { fields, owner, parent, target }: AnyAggregate['declaration'] & { readonly target: AnyAggregate },
): Sentences {
  const [list = '', field] = name.split('.');
  if (gone !== 'null') yield ` with ${String(gone)}: write 'null', or remove it.`;
  if (isUser({ name: kind }))
    yield `, but nothing changes users when others end: use \`optional()\` instead.`;
  if (name === owner || name === parent)
    yield `, but every aggregate keeps its owner, and always has a parent: remove it, and let a reaction end the aggregate.`;
  if (field !== undefined && fields[list]?.def.key === field)
    yield `, but it is the key of its items: remove it, and let a reaction remove the item.`;
  const events = Object.values(target.declaration.events as Readonly<Record<string, object>>);
  if (!events.some((event) => Object.hasOwn(event, 'ends')))
    yield `, but no event ends ${oneOf(target.kind)}: use \`optional()\` instead, or declare its end.`;
}

/** Includes the references of items. */
const referencesIn = (fields: AnyAggregate['fields']): readonly (readonly [string, FieldDef])[] =>
  Object.entries(fields).flatMap(([name, { def }]) => {
    const ofItems = referencesIn(def.item ?? {}).map(([field, each]) => [`${name}.${field}`, each] as const);
    return def.kind === 'ref' ? [[name, def] as const] : ofItems;
  });

/** An aggregate is created below its parent, so the parent must be creatable first. */
export const demandParents = eachKind(function* (kind: Kind, { kinds }: Domain): Sentences {
  const { parent } = kind;
  if (parent === undefined) return;
  const def = kind.fields[parent];
  if (def?.kind !== 'ref') yield `the parent ${parent} is not one of its references: use one of them.`;
  if (def?.optional)
    yield `the parent ${parent} is optional(), but aggregates are created under their parent: make it required, or remove \`parent\`.`;
  const above = aboveOf(kinds, [kind]);
  if (above.at(-1) === kind && above.length > 1)
    yield `the parent ${parent} leads back to ${oneOf(kind.name)}, through ${above.map(({ name }) => name).join(', ')}, so none of them can be created first: remove \`parent\` from one of them.`;
});

/** The chain of parents; in a circle it ends with the kind that repeats. */
const aboveOf = (kinds: Domain['kinds'], passed: readonly [Kind, ...Kind[]]): readonly Kind[] => {
  const at = passed.at(-1) ?? passed[0];
  const def = at.parent === undefined ? undefined : at.fields[at.parent];
  const next = def && kinds[targetOf(def)];
  if (next === undefined) return passed;
  return passed.includes(next) ? [...passed, next] : aboveOf(kinds, [...passed, next]);
};
