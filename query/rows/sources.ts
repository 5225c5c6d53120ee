import { isoText } from '#kernel/base/instant.ts';
import { column, sqlName, targetOf } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { notFound } from '#kernel/base/rejection.ts';
import { isUser } from '#kernel/base/users.ts';
import { fieldsOfItem } from '#kernel/conditions/expression.ts';
import type { State } from '#kernel/conditions/holds.ts';
import { partOfItems, partRightsOf } from '#kernel/conditions/parts-of.ts';
import { isReadableWithItems } from '#kernel/conditions/references.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import { oneOfList } from '#kernel/decide/items.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Domain, Kind, ListInfo } from '#kernel/registry/registry.ts';
import { seeing } from '#kernel/registry/roles.ts';
import { staysWhenEnded } from '#kernel/registry/stays-when-ended.ts';
import { stateOf } from '#kernel/rows/definition.ts';
import { itemTableOf } from '#kernel/rows/items.ts';
import { columnsOf, partsOf } from '#kernel/rows/table.ts';
import { managedKindsOf } from '#kernel/webhook/managed-kinds.ts';
import { factsOf, type Needs, needsOf, needsToRead } from './needs.ts';
import { ofOwnOrder } from './sorted-items.ts';
import type { Child, Filter, ItemSource, Member, Sort, Source, Sources } from './source.ts';

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
    right: kind.isManaged ? seeing(domain, operationOf(kind, 'manage')) : operationOf(kind, 'read'),
    members,
    guards,
    whole,
    traced: isUser(kind) ? [] : whole,
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
      ...ofOwnOrder(members),
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
