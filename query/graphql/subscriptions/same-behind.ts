import { targetOf } from '#kernel/base/names.ts';
import { callersIn } from '#kernel/conditions/fold.ts';
import { isReadableWith } from '#kernel/conditions/references.ts';
import { rightsOf } from '#kernel/conditions/rights.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Child, Member, Source } from '../../rows/source.ts';
import type { SameFor } from './same-in-kernel.ts';

/**
 * The change concerns the owner of an aggregate and the owner of its parent; other references lead to data of
 * others.
 */
export const sameBehind = (
  domain: Domain,
  { kind, right, parent, owner }: Source,
  member: Member,
): SameFor | undefined => {
  const isConcerned =
    (member.name === parent?.name && isAsked(domain, right, member)) || member.name === owner?.name;
  if (isConcerned && isReadableWith(domain, kind, member)) return 'all';
  if (member.target && askersOf(domain, `${member.target.name}.read`).size > 0) return undefined;
  return isConcerned ? 'all' : 'all_and_leads_to_others';
};

/**
 * True if a right asks for the owner of a reference’s target, and for everyone else who may read that.
 * Otherwise a change does not contain them.
 */
const isAsked = (domain: Domain, right: string, { name, target }: Member): boolean => {
  if (target === undefined) return false;
  const asked = askersOf(domain, right);
  const there = [
    ...(target.owner === undefined ? [] : [target.owner]),
    ...askersOf(domain, `${target.name}.read`),
  ];
  return there.every((asker) => asked.has(`${name}.${asker}`));
};

/**
 * Only its owner may see some aggregates of a user. Children are as visible as their parent, or different for
 * every viewer.
 */
export const sameUnder = (
  domain: Domain,
  { kind, owner, right }: Source,
  { reference }: Child,
): SameFor | undefined => {
  const askers = askersOf(domain, right);
  if (reference === owner?.name)
    return [...askers].every((asker) => asker === reference) ? 'all_but_its_own' : undefined;
  const parent = kind.fields[reference];
  const above = parent && domain.kinds[targetOf(parent)]?.owner;
  return [...askers].every((asker) => asker === `${reference}.${above}`)
    ? 'all_and_leads_to_others'
    : undefined;
};

/** The fields in which a right compares the caller. */
export const askersOf = (domain: Domain, operation: string): ReadonlySet<string> =>
  new Set(
    (rightsOf(domain).get(operation)?.alternatives ?? [])
      .flatMap((each) => callersIn(each))
      .map(({ field, path }) => [...path, field].join('.')),
  );
