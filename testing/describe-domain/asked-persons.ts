import { type Expression, resolve } from '#kernel/conditions/expression.ts';
import { operationOf, rightsOf } from '#kernel/conditions/rights.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';

/** The path of a reference to a user: `team.approver`, or `team.members.person` in the items of a list. */
type Path = string;
export const pathOf = ({ name }: Kind, field: string, { list }: Pick<CommandInfo, 'list'>): Path =>
  [name, ...(list === undefined ? [] : [list.name]), field].join('.');

/**
 * The roles that rights and guards require of the user referenced at a path. If the user has none of them,
 * nobody gets the right.
 */
export const rolesAskedAt = (domain: Domain): ReadonlyMap<Path, ReadonlySet<string>> => {
  const asked = new Map<Path, Set<string>>();
  for (const { kind, byRole } of rightsOf(domain).values())
    for (const [role, reach] of byRole)
      for (const expression of kind === undefined ? [] : reach)
        for (const path of pathsIn(expression, kind?.name ?? ''))
          asked.set(path, (asked.get(path) ?? new Set()).add(role));
  for (const kind of Object.values(domain.kinds))
    for (const { name, when, internal } of Object.values(kind.commands)) {
      if (when === undefined || internal) continue;
      const right = rightsOf(domain).get(operationOf(kind, name));
      for (const [role, reach] of right?.byRole ?? [])
        for (const path of reach.size === 0 ? [] : pathsIn(resolve(domain, kind, when), kind.name))
          asked.set(path, (asked.get(path) ?? new Set()).add(role));
    }
  return asked;
};

const pathsIn = (expression: Expression, at: string): readonly Path[] => {
  switch (expression.op) {
    case 'and':
    case 'or':
      return expression.of.flatMap((each) => pathsIn(each, at));
    case 'caller':
      return [`${at}.${expression.field}`];
    case 'at':
      return pathsIn(expression.of, expression.kind);
    case 'some':
      return pathsIn(expression.of, `${at}.${expression.field}`);
    default:
      // A negated right requires no particular user.
      return [];
  }
};
