import { column, targetOf } from '#kernel/base/names.ts';
import { resolve } from '#kernel/conditions/expression.ts';
import { type FactAt, factsIn } from '#kernel/conditions/fold.ts';
import { type AskedList, askedColumn, askedListOf } from '#kernel/conditions/lists.ts';
import { operationOf, rightsOf } from '#kernel/conditions/rights.ts';
import { constantsIn } from '#kernel/registry/constants-in.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';

/**
 * The column by itself, and its name where it is joined to another row, as `article.status`; `sqlName` shortens
 * it in statements and rows.
 */
type NeededField = {
  readonly name: string;
  readonly column: string;
  readonly joined: string;
  readonly isInstant: boolean;
};
/** The same for a list: what conditions ask of its items. */
type NeededList = Omit<NeededField, 'isInstant'> & { readonly asked: AskedList };

/**
 * The facts that rights to an aggregate depend on: its fields, and the targets of its references. An
 * aggregate whose parent is gone is about to be deleted too.
 */
export type Needs = {
  readonly fields: readonly NeededField[];
  readonly lists: readonly NeededList[];
  readonly behind: readonly {
    readonly reference: string;
    readonly column: string;
    readonly kind: Kind;
    readonly needs: Needs;
  }[];
};

/** The facts on which the right to read the target of a reference depends, joined under its name. */
export const needsToRead = (domain: Domain, target: Kind, reference: string): Needs => {
  const alternatives = rightsOf(domain).get(operationOf(target, 'read'))?.alternatives ?? [];
  return needsOf(
    domain,
    target,
    alternatives.flatMap((each) => factsIn(each)),
    `${reference}.`,
  );
};

/** The facts that all rights to it depend on. The kernel’s own rights depend on the owner too. */
export const factsOf = (domain: Domain, kind: Kind): readonly FactAt[] => {
  const facts = askedOf(domain, kind);
  // A reader also learns which children may be added, so the rights to children count too.
  const under = Object.values(domain.kinds).flatMap((child) => {
    const def = child.parent === undefined ? undefined : child.fields[child.parent];
    if (!def || targetOf(def) !== kind.name) return [];
    return askedOf(domain, child).flatMap(({ field, path: [first, ...path] }) =>
      first === child.parent ? [{ field, path }] : [],
    );
  });
  return [...(kind.owner === undefined ? [] : [{ field: kind.owner, path: [] }]), ...facts, ...under];
};

/** The facts that rights, the conditions of commands, and links depend on. */
const askedOf = (domain: Domain, kind: Kind): readonly FactAt[] => [
  ...[...rightsOf(domain).values()].flatMap(({ kind: of, alternatives }) =>
    of === kind ? alternatives.flatMap((each) => factsIn(each)) : [],
  ),
  ...Object.values(kind.commands).flatMap(({ when }) =>
    when === undefined ? [] : factsIn(resolve(domain, kind, when)),
  ),
  // An action on an item is linked if it would change a field of the aggregate.
  ...Object.values(kind.events).flatMap(({ effect, sets }) =>
    effect === 'updates' ? constantsIn(sets).map(([field]) => ({ field, path: [] })) : [],
  ),
];

export const needsOf = (domain: Domain, kind: Kind, facts: readonly FactAt[], prefix = ''): Needs => {
  const own = facts.flatMap(({ field, path }) => (path.length === 0 ? [field] : []));
  const parent = prefix === '' ? kind.parent : undefined;
  const references = new Set([
    ...(parent === undefined ? [] : [parent]),
    ...facts.flatMap(({ path }) => path.slice(0, 1)),
  ]);
  return {
    lists: [...new Set(own)].flatMap((name) => {
      const asked = askedListOf(domain, kind, name);
      return asked === undefined
        ? []
        : [{ name, column: askedColumn(asked), joined: `${prefix}${askedColumn(asked)}`, asked }];
    }),
    fields: [
      ...new Set(['id', ...own.filter((name) => !Object.hasOwn(kind.lists, name)), ...references]),
    ].map((name) => {
      const def = kind.fields[name];
      const each = column(name, def);
      return { name, column: each, joined: `${prefix}${each}`, isInstant: def?.kind === 'instant' };
    }),
    behind: [...references].flatMap((reference) => {
      const def = kind.fields[reference];
      const target = def && domain.kinds[targetOf(def)];
      if (!def || !target) return [];
      const there = facts
        .filter(({ path }) => path[0] === reference)
        .map(({ field, path }) => ({ field, path: path.slice(1) }));
      const isParent = reference === parent;
      // A reader also gets links of the parent, so the rights to the parent count too.
      const asked = isParent ? [...there, ...factsOf(domain, target)] : there;
      return [
        {
          reference,
          column: column(reference, def),
          kind: target,
          needs: needsOf(domain, target, asked, `${prefix}${reference}.`),
        },
      ];
    }),
  };
};
