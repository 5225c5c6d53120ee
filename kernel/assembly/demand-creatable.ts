import { oneOf, targetOf } from '../base/names.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import type { Sentences } from './refusals.ts';

/** Refuses aggregates that nothing could ever create, because each requires another of a circle first. */
export function* demandCreatable(domain: Domain): Sentences {
  const kinds = Object.values(domain.kinds);
  const creatable = new Set<string>();
  for (let before = -1; before < creatable.size; ) {
    before = creatable.size;
    for (const kind of kinds)
      if (requiredBy(kind).every(([, target]) => creatable.has(target))) creatable.add(kind.name);
  }
  const stuck = kinds.find(({ name }) => !creatable.has(name));
  if (stuck === undefined) return;
  const circle = circleFrom(kinds, creatable, stuck);
  const [first] = circle;
  const names = circle.map(({ kind, reference }) => `${kind.name}.${reference}`);
  yield `${first?.kind.name}: its creation requires ${names.join(', ')}, which leads back to ${oneOf(first?.kind.name ?? '')}, so none can be created first: ${adviceOn(circle)}.`;
}

const adviceOn = (circle: readonly Step[]): string => {
  const demanded = circle.find(({ kind, reference }) => kind.fields[reference]?.optional);
  return demanded === undefined
    ? 'make a reference optional()'
    : `remove ${demanded.reference} from \`requires\``;
};

type Required = readonly (readonly [reference: string, target: string])[];
const requiredBy = ({ fields, commands }: Kind): Required => {
  const creations = Object.values(commands).filter((command) => command.kind === 'create');
  const isRequired = (name: string): boolean =>
    creations.length > 0 && creations.every(({ requires }) => requires.includes(name));
  return Object.entries(fields).flatMap(([name, def]) =>
    def.kind === 'ref' && (isRequired(name) || (!def.optional && def.initial === undefined))
      ? [[name, targetOf(def)] as const]
      : [],
  );
};

type Step = { readonly kind: Kind; readonly reference: string };

/** Each of them requires the next, and the last requires the first. */
const circleFrom = (kinds: readonly Kind[], creatable: ReadonlySet<string>, start: Kind): readonly Step[] => {
  const passed: Step[] = [];
  for (let kind: Kind | undefined = start; kind !== undefined; ) {
    const here: Kind = kind;
    const index = passed.findIndex((step) => step.kind === here);
    if (index >= 0) return passed.slice(index);
    const [reference, target] = requiredBy(here).find(([, name]) => !creatable.has(name)) ?? ['', ''];
    passed.push({ kind: here, reference });
    kind = kinds.find(({ name }) => name === target);
  }
  return passed;
};
