import { capital } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import { leadsToUser } from '../base/users.ts';
import { type FieldDef, ref } from '../declare/fields.ts';
import type { Kind } from './registry.ts';

type Named = readonly [name: string, def: FieldDef];

/**
 * A personal field may belong to a person behind several references: `of: 'claim.employee'`. The aggregate
 * then has its own reference to the person, `claimEmployee`: its creation follows the path, and every event
 * contains the reference, so that no lookup is needed.
 */
type WithPersons = {
  readonly all: readonly Named[];
  /** The paths, by the names of these references. */
  readonly persons: Readonly<Record<string, readonly string[]>>;
};

export const withPersons = (aggregate: string, declared: readonly Named[]): WithPersons => {
  const paths = new Map<string, string>();
  const named = (of: string | undefined): string | undefined => {
    if (of === undefined || !of.includes('.')) return of;
    const [first = '', ...others] = of.split('.');
    const name = [first, ...others.map(capital)].join('');
    if ((paths.get(name) ?? of) !== of || declared.some(([each]) => each === name))
      throw new StartRefused(
        `${aggregate}: ${name} is reserved for the person to whom ${of} leads: give the field another name.`,
      );
    paths.set(name, of);
    return name;
  };
  const whose = (def: FieldDef): FieldDef => {
    const of = named(def.personal?.of);
    if (def.personal !== undefined && of !== def.personal.of)
      return { ...def, personal: { ...def.personal, of } };
    if (def.item === undefined) return def;
    return {
      ...def,
      item: Object.fromEntries(
        Object.entries(def.item).map(([field, each]) => [field, { ...each, def: whose(each.def) }]),
      ),
    };
  };
  const all = declared.map(([name, def]): Named => [name, whose(def)]);
  const added = [...paths].map(([name, path]): Named => [name, personAt(path)]);
  return {
    all: [...all, ...added],
    persons: Object.fromEntries([...paths].map(([name, path]) => [name, path.split('.')])),
  };
};

const personAt = (path: string): FieldDef =>
  ref('user').says(`The user to whom the personal fields belong: the target of \`${path}\` at the creation.`)
    .def;

type Identified = Pick<Kind, 'parent' | 'owner' | 'persons' | 'fields' | 'lists' | 'events'>;

/**
 * The references in every event. They include the persons of personal fields whose references only a creation
 * sets.
 */
export const identityOf = ({
  parent,
  owner,
  persons,
  fields,
  lists,
  events,
}: Identified): readonly string[] => {
  const defs = [fields, ...Object.values(lists).map((list) => list.fields)].flatMap((each) =>
    Object.values(each),
  );
  const named = defs
    .flatMap(({ personal }) => personal?.of ?? [])
    .filter((name) => isSettled(fields[name], name, events));
  return [
    ...new Set([parent, owner, ...Object.keys(persons), ...named].filter((name) => name !== undefined)),
  ];
};

const isSettled = (def: FieldDef | undefined, name: string, events: Kind['events']): boolean =>
  def?.kind === 'ref' &&
  leadsToUser(def) &&
  !def.optional &&
  Object.values(events).every(({ effect, content, values, sets }) => {
    const isGiven = effect === 'creates' ? content.includes(name) : !values.includes(name);
    return isGiven && !(name in sets);
  });
