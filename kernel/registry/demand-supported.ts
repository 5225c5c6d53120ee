import { StartRefused } from '#shared/process/start-refused.ts';
import { isOfParts } from '../conditions/parts-of.ts';
import { targetOf } from './names.ts';
import type { Kind } from './registry.ts';

/** Refuses by name what can be declared and is carried out by nothing yet: an author who relies on it would find out too late. */
export const demandSupported = (kinds: readonly Kind[]): void => {
  const names = kinds.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new StartRefused(`There are two aggregates ${twice}: give one of them another name.`);
  for (const kind of kinds) {
    const [missing] = unsupportedIn(kind);
    if (missing !== undefined) throw new StartRefused(`${kind.name}: ${missing} cannot be carried out yet; leave it out.`);
    const [unowned] = kind.name === 'user' ? [] : unownedIn(kind);
    if (unowned !== undefined)
      throw new StartRefused(
        `${kind.name}: the personal field ${unowned} must belong to a user whom it always names as its owner or its parent.`,
      );
    const [unfilled] = kind.name === 'user' ? unfilledIn(kind) : [];
    if (unfilled !== undefined)
      throw new StartRefused(`user: ${unfilled} needs a default, or must be optional: nobody fills it in who signs up.`);
  }
};

/** The user’s own are carried out by the account and the policy. */
const unsupportedIn = (kind: Kind): readonly string[] => {
  const { name, fields, fieldRights } = kind;
  return [
    ...Object.keys(fieldRights).flatMap((right) => (name === 'user' || isOfParts(kind, right) ? [] : [`the field right ${right}`])),
    // The address would be erased, and the file left.
    ...Object.keys(fields).flatMap((field) =>
      fields[field]?.kind === 'upload' && fields[field].personal ? [`personal() of the upload ${field}`] : [],
    ),
    ...Object.keys(fields).flatMap((field) => (fields[field]?.kind === 'date' ? [`the date ${field}`] : [])),
    ...Object.keys(fields).flatMap((field) => (fields[field]?.sort && fields[field].kind !== 'instant' ? [`sort() of ${field}`] : [])),
  ];
};

/** Every event names the owner and the parent, so that what is personal is sealed for somebody. */
const unownedIn = ({ fields, identity, owner }: Kind): readonly string[] =>
  Object.entries(fields).flatMap(([name, { personal }]) => {
    const person = personal?.of ?? owner ?? '';
    const def = fields[person];
    const isOwned = def !== undefined && targetOf(def) === 'user' && !def.optional && identity.includes(person);
    return personal === undefined || isOwned ? [] : [name];
  });

const unfilledIn = ({ fields }: Kind): readonly string[] =>
  Object.entries(fields).flatMap(([name, { optional, initial }]) => (name === 'name' || optional || initial !== undefined ? [] : [name]));
