// Over 200 lines, because it is one thing: what the reads of a kind need, compiled from its declaration.

import { isoText } from '#kernel/base/instant.ts';
import { column, sqlName, targetOf } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { notFound, type RejectionCode } from '#kernel/base/rejection.ts';
import { type Expression, fieldsOfItem, resolve } from '#kernel/conditions/expression.ts';
import { type FactAt, factsIn } from '#kernel/conditions/fold.ts';
import type { State } from '#kernel/conditions/holds.ts';
import { type AskedList, askedColumn, askedListOf } from '#kernel/conditions/lists.ts';
import { partOfItems, partRightsOf } from '#kernel/conditions/parts-of.ts';
import { isReadableWithItems } from '#kernel/conditions/references.ts';
import { operationOf, rightsOf } from '#kernel/conditions/rights.ts';
import { oneOfList } from '#kernel/decide/items.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import { constantsIn } from '#kernel/registry/constants-in.ts';
import type { Domain, Kind, ListInfo } from '#kernel/registry/registry.ts';
import { staysWhenEnded } from '#kernel/registry/stays-when-ended.ts';
import { stateOf } from '#kernel/rows/definition.ts';
import { itemTableOf } from '#kernel/rows/items.ts';
import { columnsOf, partsOf } from '#kernel/rows/table.ts';
import { managedKindsOf } from '#kernel/webhook/managed-kinds.ts';

/** A field of an aggregate, and its column. */
export type Member = {
  readonly name: string;
  readonly def: FieldDef;
  readonly column: string;
  /** The kind that a reference points to. */
  readonly target: Kind | undefined;
  /** The right to read the field, if it needs more than the right to the aggregate. */
  readonly guard: Operation | undefined;
  /**
   * True if everybody who reads the row may read every target of the reference. Only then a deleted user is
   * shown, as a name.
   */
  readonly showsEnded: boolean;
};

export type Filter = {
  readonly name: string;
  readonly column: string;
  /**
   * How the given value is compared: with the column, with an element of the column, as the id of a
   * reference, or as words.
   */
  readonly by: 'value' | 'element' | 'id' | 'words';
  readonly def: FieldDef | undefined;
  /**
   * The right to read the field, if it needs more than the right to the aggregate. For other callers it has
   * no value.
   */
  readonly guard: Operation | undefined;
};

export type Sort = {
  readonly name: string;
  readonly column: string;
  /**
   * The state that the event leads to, if this sorts by the time of an event. Only aggregates in it are
   * listed.
   */
  readonly state: string | undefined;
  /** True if some aggregates have no value in any state; they are omitted. */
  readonly isPartial: boolean;
  /**
   * The right to read the field, if it needs more than the right to the aggregate. Aggregates whose field the
   * caller may not read are omitted.
   */
  readonly guard: Operation | undefined;
};

/** Aggregates that are listed under another: its children, or what a user owns. */
export type Child = { readonly kind: Kind; readonly reference: string; readonly column: string };

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

/** How the aggregates of one kind are read by every reader: compiled once from the declaration. */
export type Source = {
  readonly kind: Kind;
  readonly table: string;
  readonly right: Operation;
  readonly members: readonly Member[];
  /** The rights to guarded values, by field, `createdAt` and `updatedAt` included. */
  readonly guards: ReadonlyMap<string, Operation>;
  /** A caller with all of these rights sees the whole aggregate, and so when and how often it changed. */
  readonly whole: readonly Operation[];
  /** Those without which nobody sees when it was changed. Users have a right of their own for that. */
  readonly traced: readonly Operation[];
  readonly filters: readonly Filter[];
  /** By creation first. */
  readonly sorts: readonly Sort[];
  readonly isNewestFirst: boolean;
  /** Rows of deleted aggregates stay, because others show their names. */
  readonly staysWhenEnded: boolean;
  /**
   * The column that distinguishes existing rows from those that are only a name for others, or are about to be
   * deleted with their owner.
   */
  readonly presence: { readonly column: string; readonly isNull: boolean } | undefined;
  readonly parent: Member | undefined;
  readonly owner: Member | undefined;
  readonly children: readonly Child[];
  readonly items: readonly ItemSource[];
  readonly needs: Needs;
  /**
   * By reference, the facts on which the right to read its target depends. Only of targets whose label is
   * shown, and that some readers of the aggregate may not read.
   */
  readonly targets: ReadonlyMap<string, Needs>;
};

type OrderColumn = { readonly name: string; readonly type: 'text' | 'bigint' };

/** How the items of one list are read by every reader: compiled once from the declaration. */
export type ItemSource = {
  readonly kind: Kind;
  readonly list: ListInfo;
  readonly table: string;
  /** The column with the id of the aggregate. */
  readonly of: string;
  /** The key comes first, if it is a field. */
  readonly members: readonly Member[];
  /** By fields with `filter()`. */
  readonly filters: readonly Filter[];
  /** The order of the items. The last column is unique within a list. */
  readonly order: readonly OrderColumn[];
  /** The error if there is no such item. */
  readonly absent: RejectionCode;
  /** Items that need a right beyond the right to their aggregate. */
  readonly part: { readonly right: Operation; readonly of: Expression; readonly kind: Kind } | undefined;
};

export type Sources = {
  /** The kinds of the domain. */
  readonly all: readonly Source[];
  /** The kinds that the kernel itself manages. */
  readonly managed: readonly Source[];
  of(kind: string): Source | undefined;
};

export const sourcesOf = oncePer((domain: Domain): Sources => makeSources(domain));

export const demandSource = (sources: Sources, kind: string): Source => {
  const source = sources.of(kind);
  if (!source) throw new RangeError(`The domain has no ${kind}`);
  return source;
};

export const demandItems = ({ kind, items }: Source, list: ListInfo): ItemSource => {
  const source = items.find((each) => each.list === list);
  if (!source) throw new RangeError(`${kind.name} has no ${list.name}`);
  return source;
};

const makeSources = (domain: Domain): Sources => {
  const all = Object.values(domain.kinds).map((kind) => sourceOf(domain, kind));
  const managed = managedKindsOf(domain).map((kind) => sourceOf(domain, kind));
  const byKind = new Map([...all, ...managed].map((source) => [source.kind.name, source]));
  return { all, managed, of: (kind) => byKind.get(kind) };
};

const sourceOf = (domain: Domain, kind: Kind): Source => {
  const guards = guardsOf(kind);
  const whole = partRightsOf(kind).map(({ name }) => operationOf(kind, name) as Operation);
  const members = columnsOf(kind).flatMap(([name, def]) =>
    partsOf(name, def).map((part) => ({
      name,
      def,
      column: part.column,
      target: def.kind === 'ref' && !kind.isManaged ? domain.kinds[targetOf(def)] : undefined,
      guard: guards.get(name),
      showsEnded: isReadableWithItems(domain, kind, { def }),
    })),
  );
  return {
    kind,
    table: `read_model.${kind.table}`,
    right: operationOf(kind, kind.isManaged ? 'manage' : 'read') as Operation,
    members,
    guards,
    whole,
    traced: kind.name === 'user' ? [] : whole,
    filters: filtersOf(kind, members),
    sorts: [
      { name: 'createdAt', column: 'created_at', state: undefined, isPartial: false, guard: undefined },
      ...sortsOf(kind, members),
    ],
    isNewestFirst: !kind.oldestFirst,
    staysWhenEnded: staysWhenEnded(kind),
    presence: staysWhenEnded(kind)
      ? { column: 'deleted_at', isNull: true }
      : kind.isManaged && { column: 'url', isNull: false },
    parent: members.find(({ name }) => name === kind.parent),
    owner: members.find(({ name }) => name === kind.owner),
    children: childrenOf(domain, kind),
    items: itemSourcesOf(domain, kind),
    needs: needsOf(domain, kind, factsOf(domain, kind)),
    targets: new Map(
      members.flatMap((member) => {
        const { name, target } = member;
        const isShown = target?.label !== undefined && name !== kind.parent;
        return isShown && !isReadableWithItems(domain, kind, member)
          ? [[name, needsToRead(domain, target, name)] as const]
          : [];
      }),
    ),
  };
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

const guardsOf = (kind: Kind): ReadonlyMap<string, Operation> =>
  new Map(
    partRightsOf(kind).flatMap(({ name, fields }) =>
      fields.map((field) => [field, operationOf(kind, name) as Operation] as const),
    ),
  );

/** The rights needed to read a field or the version. */
export const rightsToField = ({ guards, traced }: Source, field: string): readonly Operation[] => {
  if (field === 'version' || (field === 'updatedAt' && traced.length > 0)) return traced;
  const guard = guards.get(field);
  return guard === undefined ? [] : [guard];
};

const BY = { set: 'element', ref: 'id' } as const;

const filterBy = ({ name, def, guard, column: each }: Member): Filter => {
  const by = def.kind === 'set' || def.kind === 'ref' ? BY[def.kind] : 'value';
  return { name: typeof def.filter === 'string' ? def.filter : name, column: each, by, def, guard };
};

const filtersOf = ({ owner, parent }: Kind, members: readonly Member[]): readonly Filter[] => [
  ...members.flatMap((member) => {
    const isOfOwner = member.name === owner && parent === undefined;
    return member.def.filter || isOfOwner ? [filterBy(member)] : [];
  }),
  ...(members.some(({ def }) => def.search)
    ? [{ name: 'search', column: 'search', by: 'words', def: undefined, guard: undefined } as const]
    : []),
];

const sortsOf = (kind: Kind, members: readonly Member[]): readonly Sort[] =>
  members.flatMap(({ name, def, guard, column: each }) => {
    if (!def.sort) return [];
    const state = stateOf(kind, name)?.value;
    return [{ name, column: each, state, isPartial: def.optional === true && state === undefined, guard }];
  });

const childrenOf = (domain: Domain, kind: Kind): readonly Child[] =>
  Object.values(domain.kinds).flatMap((child) => {
    const reference = child.parent ?? child.owner;
    const def = reference === undefined ? undefined : child.fields[reference];
    if (reference === undefined || !def || targetOf(def) !== kind.name) return [];
    return [{ kind: child, reference, column: column(reference, def) }];
  });

const itemSourcesOf = (domain: Domain, kind: Kind): readonly ItemSource[] =>
  Object.values(kind.lists).map((list) => {
    const { name, key } = itemTableOf(kind, list);
    const { key: keyed, id, fields, isOrdered } = list;
    const part = partOfItems(kind, list);
    const all: readonly (readonly [string, FieldDef])[] = [
      ...(keyed === undefined ? [] : [[keyed, id.def] as const]),
      ...Object.entries(fields),
    ];
    const members: readonly Member[] = all.map(([field, def]) => ({
      name: field,
      def,
      column: column(field, def),
      target: def.kind === 'ref' ? domain.kinds[targetOf(def)] : undefined,
      guard: undefined,
      showsEnded: isReadableWithItems(domain, kind, { def }),
    }));
    return {
      kind,
      list,
      table: `read_model.${name}`,
      of: key[0],
      members,
      filters: members.flatMap((member) => (member.def.filter ? [filterBy(member)] : [])),
      order: [
        ...(isOrdered ? [{ name: 'rank', type: 'text' } as const] : []),
        { name: id.column, type: id.def.column === 'text' ? 'text' : 'bigint' },
      ],
      absent: notFound(oneOfList(kind, list)),
      part: part && {
        right: operationOf(kind, part.name) as Operation,
        of: part.of,
        kind: { ...kind, fields: fieldsOfItem(list), lists: {} },
      },
    };
  });

/** The facts that all rights to it depend on. The kernel’s own rights depend on the owner too. */
const factsOf = (domain: Domain, kind: Kind): readonly FactAt[] => {
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

const needsOf = (domain: Domain, kind: Kind, facts: readonly FactAt[], prefix = ''): Needs => {
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

export type Row = Readonly<Record<string, unknown>>;

/** The condition on the row t that it exists. */
export const presentSql = ({ presence }: Source): readonly string[] =>
  presence ? [`t.${presence.column} is ${presence.isNull ? '' : 'not '}null`] : [];

export const isPresent = ({ presence }: Source, row: Row): boolean =>
  !presence || (row[presence.column] === null) === presence.isNull;

/** The fields of a row, as the conditions of rights read them. */
export const fieldsIn = (
  { fields, lists }: Needs,
  row: Row,
  where: 'column' | 'joined' = 'column',
): State => {
  const state: Record<string, unknown> = {};
  for (const field of fields) {
    const value = row[sqlName(field[where])];
    state[field.name] = field.isInstant && value instanceof Date ? isoText(value) : value;
  }
  for (const list of lists) state[list.name] = row[sqlName(list[where])] ?? [];
  return state;
};
