import { column, snake, wire } from '../base/names.ts';
import { fieldsOfItem } from '../conditions/expression.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { EventInfo, Kind, ListInfo } from '../registry/registry.ts';
import { type ItemChange, sealOf, type Table } from './change.ts';
import type { Projected } from './compile.ts';
import type { TableDefinition } from './definition.ts';

/** The table of a list’s items, identified by their aggregate and their id or key. */
export type ItemTable = Table & {
  /** The columns of the aggregate and of the item’s id or key. */
  readonly key: readonly [of: string, id: string];
  /** The table of the aggregates. */
  readonly of: string;
  /** The field of the aggregate with the person of the items’ personal fields. */
  readonly whose: string | undefined;
  /** The column that orders items: ranks, or their id or key. */
  readonly order: string;
  readonly list: ListInfo;
};

export const itemTableOf = (kind: Kind, list: ListInfo): ItemTable => {
  const of = column(kind.name, { kind: 'ref' } as FieldDef);
  const personal = personalIn(list);
  const whose = personal[0]?.[1].personal?.of ?? kind.owner;
  const person = personal.length === 0 || whose === undefined ? null : column(whose, kind.fields[whose]);
  return {
    name: list.table,
    kind: kind.name,
    columns: {
      [of]: 'bigint',
      [list.id.column]: list.id.def.column,
      ...(list.isOrdered && { rank: 'text' }),
      // Finds personal data by its person.
      ...(person !== null && { [person]: 'bigint' }),
      ...Object.fromEntries(
        Object.entries(list.fields).map(([name, def]) => [column(name, def), def.column]),
      ),
      ...(personal.length > 0 && { seal: 'text' }),
      version: 'integer',
      created_at: 'timestamptz',
      updated_at: 'timestamptz',
    } as Table['columns'],
    parent: null,
    personal: personal.map(([name, def]) => column(name, def)),
    person,
    key: [of, list.id.column],
    of: kind.table,
    whose,
    order: list.isOrdered ? 'rank' : list.id.column,
    list,
  };
};

const personalIn = ({ fields }: ListInfo): readonly (readonly [string, FieldDef])[] =>
  Object.entries(fields).filter(([, { personal }]) => personal);

/**
 * The SQL that creates it, with indexes for its order, for the person of personal data, and for each field
 * that leads to the caller.
 */
export const itemDefinitionOf = (
  kind: Kind,
  list: ListInfo,
  references: readonly string[] = [],
): TableDefinition => {
  const { name, columns, key, order, personal, person } = itemTableOf(kind, list);
  const all = fieldsOfItem(list);
  const defs = new Map(Object.entries(list.fields).map(([field, def]) => [column(field, def), def]));
  const lines = Object.entries(columns).map(([each, type]) => {
    const def = defs.get(each);
    const isNullable = each === 'seal' || def?.optional || def?.personal !== undefined;
    const isText = type === 'text' && (each === 'rank' || each === list.id.column);
    return `${each} ${type}${isText ? ' collate "C"' : ''}${isNullable ? '' : ' not null'}`;
  });
  return {
    table: `create table ${name} (\n  ${[...lines, `primary key (${key.join(', ')})`].join(',\n  ')}\n)`,
    indexes: [
      ...(list.isOrdered
        ? [`create index ${name}_in_order on ${name} (${key[0]}, ${order}, ${key[1]})`]
        : []),
      ...(person === null
        ? []
        : [`create index ${name}_by_person on ${name} (${person}, ${key.join(', ')})`]),
      ...references.map(
        (reference) =>
          `create index ${name}_with_${snake(reference)} on ${name} (${column(reference, all[reference])}, ${key[0]})`,
      ),
    ],
    unsampled:
      personal.length === 0
        ? undefined
        : `alter table ${name} ${personal.map((each) => `alter column ${each} set statistics 0`).join(', ')}`,
  };
};

/** Computes each column derived from a list; `items` are the rows of the list. */
export type DerivedColumn = {
  readonly column: string;
  readonly sql: string;
  of(items: readonly Readonly<Record<string, unknown>>[]): number;
};

export const derivedColumnsOf = ({ derived, fields }: Kind, list: ListInfo): readonly DerivedColumn[] =>
  derived
    .filter((each) => each.list === list)
    .map(({ name, field }) => {
      const own = column(name, fields[name]);
      if (field === undefined) return { column: own, sql: 'count(*)', of: (items) => items.length };
      const from = column(field, list.fields[field]);
      return {
        column: own,
        sql: `coalesce(sum(${from}), 0)`,
        of: (items) => items.reduce((sum, item) => sum + Number(item[from]), 0),
      };
    });

type Compiled = (event: Projected) => ItemChange;

/**
 * The effect of each type of event on the items of a list, with its columns precomputed. Other types have
 * none. A new aggregate has no items.
 */
export const compileItems = (kind: Kind, list: ListInfo): ReadonlyMap<string, Compiled> =>
  new Map(
    Object.values(kind.events).flatMap((event) =>
      event.list === list || event.effect === 'ends' || event.effect === 'creates'
        ? [[event.type, compile(kind, list, event)] as const]
        : [],
    ),
  );

const compile = (kind: Kind, list: ListInfo, event: EventInfo): Compiled => {
  const table = itemTableOf(kind, list);
  const aggregate = `${kind.name}Id`;
  const [of, id] = table.key;
  const keyOf = ({ data, version }: Projected) =>
    ({ [of]: data[aggregate], [id]: data[list.id.name], version }) as unknown as ItemChange['row'];
  const copied = [
    ...Object.entries(list.fields).map(([name, def]) => [column(name, def), wire(name, def)] as const),
    ...(list.isOrdered ? [['rank', 'rank'] as const] : []),
  ];
  const given = (data: Projected['data']): Record<string, unknown> => {
    const values: Record<string, unknown> = {};
    for (const [to, from] of copied) if (data[from] !== undefined) values[to] = data[from];
    return values;
  };
  switch (event.effect) {
    case 'creates':
    case 'ends':
      return ({ data, version }) => ({
        kind: 'clear',
        row: { [of]: data[aggregate], version } as unknown as ItemChange['row'],
      });
    case 'removes':
      return (each) => ({ kind: 'drop', row: keyOf(each) }) as ItemChange;
    case 'adds': {
      const nothing = Object.fromEntries(
        Object.entries(list.fields).map(([name, def]) => [column(name, def), def.initial ?? null]),
      );
      const person =
        table.whose !== undefined && table.person !== null
          ? ([table.person, wire(table.whose, kind.fields[table.whose])] as const)
          : undefined;
      return (each) => {
        const { data, seal, metadata } = each;
        const row = {
          ...keyOf(each),
          ...nothing,
          ...given(data),
          created_at: metadata.at,
          updated_at: metadata.at,
        };
        return {
          kind: 'put',
          row: {
            ...row,
            ...(person && { [person[0]]: data[person[1]], seal: seal ?? null }),
          } as ItemChange['row'],
        } as ItemChange;
      };
    }
    default: {
      const isSealed = event.effect === 'updates' && table.person !== null;
      return (each) =>
        ({
          kind: 'patch',
          row: {
            ...keyOf(each),
            ...given(each.data),
            ...(isSealed && sealOf(each)),
            updated_at: each.metadata.at,
          },
        }) as ItemChange;
    }
  }
};
