import { type Expression, resolve } from '#kernel/conditions/expression.ts';
import { operationOf, rightsOf } from '#kernel/conditions/rights.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';

/** The path of a reference to a user: `team.approver`, or `team.members.person` in the items of a list. */
export type Place = string;
export const placeOf = ({ name }: Kind, field: string, { list }: Pick<CommandInfo, 'list'>): Place =>
  [name, ...(list === undefined ? [] : [list.name]), field].join('.');

/**
 * The roles that rights and guards require of the user referenced at a path. If the user has none of them,
 * nobody gets the right.
 */
export const rolesAskedAt = (domain: Domain): ReadonlyMap<Place, ReadonlySet<string>> => {
  const asked = new Map<Place, Set<string>>();
  for (const { kind, byRole } of rightsOf(domain).values())
    for (const [role, reach] of byRole)
      for (const expression of kind === undefined ? [] : reach)
        for (const place of placesIn(expression, kind?.name ?? ''))
          asked.set(place, (asked.get(place) ?? new Set()).add(role));
  for (const kind of Object.values(domain.kinds))
    for (const { name, when, internal } of Object.values(kind.commands)) {
      if (when === undefined || internal) continue;
      const right = rightsOf(domain).get(operationOf(kind, name));
      for (const [role, reach] of right?.byRole ?? [])
        for (const place of reach.size === 0 ? [] : placesIn(resolve(domain, kind, when), kind.name))
          asked.set(place, (asked.get(place) ?? new Set()).add(role));
    }
  return asked;
};

const placesIn = (expression: Expression, at: string): readonly Place[] => {
  switch (expression.op) {
    case 'and':
    case 'or':
      return expression.of.flatMap((each) => placesIn(each, at));
    case 'caller':
      return [`${at}.${expression.field}`];
    case 'at':
      return placesIn(expression.of, expression.kind);
    case 'some':
      return placesIn(expression.of, `${at}.${expression.field}`);
    default:
      // A negated right requires no particular user.
      return [];
  }
};
