import { oneOf, targetOf } from '../base/names.ts';
import { isUser, leadsToUser } from '../base/users.ts';
import { isOfParts } from '../conditions/parts-of.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { eachKind, type Sentences } from './refusals.ts';

/** Refuses declarations that no interface implements, each with what to write instead. */
export const demandSupported = eachKind(unsupportedIn, lostPaths, unownedIn, unfilledIn);

function* unsupportedIn(kind: Kind): Sentences {
  const { name, fields, fieldRights } = kind;
  // Account and policy implement those of users.
  for (const right of Object.keys(fieldRights))
    if (!isUser({ name }) && !isOfParts(kind, right))
      yield `the field right ${right} has neither \`reads\` nor \`items\`: name the parts that it covers, or give a command of its own a right.`;
  for (const [field, def] of Object.entries(fields)) {
    // Erasure would remove the address and keep the file.
    if (def.kind === 'upload' && def.personal)
      yield `the upload ${field} cannot be personal(): remove it; the file goes with the ${name}.`;
    if (isNeverGiven(def))
      yield `the upload ${field} is required, but no new ${name} can have a file yet: make it optional().`;
    if (isErasedToAnother(def))
      yield `the date ${field} cannot show the text in \`erased\`: remove this option, so that it becomes null.`;
    if (def.search && def.kind !== 'text')
      yield `search() of ${field} needs a text: remove it, or declare \`filter()\`.`;
    if (def.sort && def.kind !== 'instant')
      yield `sort() of ${field} needs an instant(): remove it, or sort by the time of an event that sets it.`;
  }
}

/** A column of dates cannot hold a replacement text. */
export const isErasedToAnother = (def: FieldDef | undefined): boolean =>
  def?.kind === 'date' && def.personal?.erased !== undefined;

/** A file can be uploaded only after its aggregate or item exists. */
export const isNeverGiven = (def: FieldDef | undefined): boolean =>
  def?.kind === 'upload' && !def.optional && !def.mayBeElsewhere;

/**
 * Every event names the owner of its personal data, so that it can be sealed even if nothing else is known.
 */
function* unownedIn(kind: Kind): Sentences {
  const { fields, identity, owner } = kind;
  if (isUser(kind)) return;
  for (const [name, def] of personalIn(kind)) {
    const person = def.personal?.of ?? owner ?? '';
    const to = fields[person];
    if (to === undefined || !leadsToUser(to) || to.optional || !identity.includes(person))
      yield `the personal field ${name} must belong to a user whom every event can name: its owner, its parent, or a reference that only its creation sets; name this reference, or the path to it, in \`of\`.`;
  }
}

const personalIn = ({ fields, lists }: Kind): readonly (readonly [name: string, def: FieldDef])[] => [
  ...Object.entries(fields).filter(([, { personal }]) => personal),
  ...Object.values(lists).flatMap((list) =>
    Object.entries(list.fields).flatMap(([name, def]) =>
      def.personal ? [[`${list.name}.${name}`, def] as const] : [],
    ),
  ),
];

/** Creation reads each reference of the path from the log. */
const HOPS_MAX = 5;

/**
 * A path must lead to the same person for ever: its references are constant and remain after their aggregates
 * end.
 */
function* lostPaths(kind: Kind, { kinds }: Domain): Sentences {
  for (const path of isUser(kind) ? [] : Object.values(kind.persons)) {
    const place = `personal fields belong to ${path.join('.')}`;
    if (path.length > HOPS_MAX)
      yield `${place}, which is ${path.length} references away: give it its own reference to the person, or use a path of at most ${HOPS_MAX}.`;
    let from = kind;
    for (const [index, name] of path.entries()) {
      const lost = lostAt(from, name, index === 0);
      if (lost !== undefined) yield `${place}, but ${lost}`;
      const target = kinds[targetOf(from.fields[name] as FieldDef)];
      if (target === undefined)
        return yield `${place}, but ${name} leads out of the domain: add its target to the domain.`;
      const isLast = index === path.length - 1;
      if (isLast && !isUser(target))
        yield `${place}, which is ${oneOf(target.name)} and not a user: end the path at a user.`;
      if (!isLast && isUser(target)) yield `${place}, but ${name} is already a user: end the path there.`;
      from = target;
    }
  }
}

const lostAt = (kind: Kind, name: string, isFirst: boolean): string | undefined => {
  const { fields, lists, identity, events } = kind;
  if (name in lists) return `${name} is a list, with several items: use references only.`;
  const def = fields[name];
  if (def?.kind !== 'ref') return `${kind.name} has no reference ${name}: use one of its references.`;
  if (def.optional)
    return `${name} of ${kind.name} may be null, so the fields could belong to nobody: make it required.`;
  const isGiven = Object.values(events).every(
    ({ effect, content }) => effect !== 'creates' || content.includes(name),
  );
  const isChanged = Object.values(events).some(
    ({ effect, values, sets }) => name in sets || (effect !== 'creates' && values.includes(name)),
  );
  if (isChanged)
    return `${name} of ${kind.name} can change, so the fields could later belong to another person: use references that only the creation sets.`;
  if (identity.includes(name) || (isFirst && isGiven)) return undefined;
  return `${name} of ${kind.name} is not in all of its events: use its owner or its parent instead.`;
};

function* unfilledIn({ name: kind, fields }: Kind): Sentences {
  for (const [name, { optional, initial }] of Object.entries(fields))
    if (isUser({ name: kind }) && name !== 'name' && !optional && initial === undefined)
      yield `${name} is not set when users sign up: give it a default, or make it optional().`;
}
