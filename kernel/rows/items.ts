import { type ItemChange, sealOf, type Table } from '#shared/read-model/change.ts';
import { fieldsOfItem } from '../conditions/expression.ts';
import type { FieldDef } from '../declare/fields.ts';
import { column, snake, wire } from '../registry/names.ts';
import type { EventInfo, Kind, ListInfo } from '../registry/registry.ts';
import type { Projected } from './compile.ts';
import type { TableDefinition } from './definition.ts';

/**
 * The table whose rows are the items of a list, each told apart by its aggregate and by what tells it from
 * the others there.
 */
export type ItemTable = Table & {
  /** The column of the aggregate, and the one of what tells its items apart. */
  readonly key: readonly [of: string, id: string];
  /** The table of the aggregates. */
  readonly of: string;
  /** The field of the aggregate that says whose the personal fields of its items are. */
  readonly whose: string | undefined;
  /** By what items are in order: ranks, or what tells them apart. */
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
      // So that what is personal is found by its person.
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
 * The SQL that makes it, with an index for its order, one by which what is personal is found, and one by each
 * field that leads to the caller.
 */
export const itemDefinitionOf = (
  kind: Kind,
  list: ListInfo,
  ways: readonly string[] = [],
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
      ...ways.map(
        (way) => `create index ${name}_with_${snake(way)} on ${name} (${column(way, all[way])}, ${key[0]})`,
      ),
    ],
    unsampled:
      personal.length === 0
        ? undefined
        : `alter table ${name} ${personal.map((each) => `alter column ${each} set statistics 0`).join(', ')}`,
  };
};

/** How each column that follows from a list is had from its rows, which `items` are. */
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
 * What each type of event does to the items of a list, with the columns fixed once; other types do nothing to
 * them. Nothing is in one at the beginning.
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
