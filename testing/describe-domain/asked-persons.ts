import { type Expression, resolve } from '#kernel/conditions/expression.ts';
import { fold } from '#kernel/conditions/fold.ts';
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

const pathsIn = (expression: Expression, at: string): readonly Path[] =>
  fold<readonly Path[]>(expression, {
    constant: () => [],
    all: (parts) => parts.flat(),
    any: (parts) => parts.flat(),
    // A negated right requires no particular user.
    not: () => [],
    question(asked) {
      if (asked.op === 'caller') return [`${at}.${asked.field}`];
      if (asked.op === 'at') return pathsIn(asked.of, asked.kind);
      return asked.op === 'some' ? pathsIn(asked.of, `${at}.${asked.field}`) : [];
    },
  });
