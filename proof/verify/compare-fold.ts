import type { Table } from '#kernel/rows/change.ts';
import { fieldOf, type ProjectedItems, type ProjectedTable, type Tables } from '#shared/read-model/tables.ts';
import type { ProjectedShares } from '#shared/read-model/view-tables.ts';
import { type Comparison, ROW_KEY } from './compare.ts';
import { keyOf } from './compare-live.ts';

/**
 * Comparisons of the projected rows with the deciders’ states of the same events. Columns that only the
 * projection has, such as the time of creation, are excluded.
 */
export const foldComparisons = (tables: Tables, schema: string): readonly Comparison[] => {
  const departed = `(select user_id from ${schema}.fold_departed)`;
  return [
    ...tables.all.flatMap((table) => [
      comparisonOf(schema, ...seenOf(table, departed)),
      ...table.items.map((items) => itemsOf({ schema, departed }, table, items)),
      ...table.shares.map((shares) => sharesOf(schema, table, shares)),
    ]),
    {
      table: 'departed',
      columns: ['user_id'],
      recorded: `select user_id as ${ROW_KEY}, user_id from ${schema}.fold_departed`,
      found: `select user_id as ${ROW_KEY}, user_id from ${schema}.departed`,
    },
    removedOf(schema, tables, departed),
  ];
};

const ONLY_PROJECTED = new Set(['id', 'seal', 'created_at', 'updated_at', 'deleted_at']);

/** The columns of a table that deciders know, with their types. */
const columnsOf = ({ columns }: Pick<Table<string>, 'columns'>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(columns).filter(([column]) => !ONLY_PROJECTED.has(column)));

type Form = Pick<Table, 'name' | 'kind' | 'columns'>;
type Otherwise = {
  /** SQL for columns that cannot be selected directly. */
  readonly recorded?: Readonly<Record<string, string>>;
  readonly found?: Readonly<Record<string, string>>;
  /** Selects the decider’s rows that must be in the table. */
  readonly where?: string;
};

const comparisonOf = (
  schema: string,
  table: Form,
  { recorded = {}, found = {}, where = 'true' }: Otherwise = {},
): Comparison => {
  const { version, ...known } = columnsOf(table);
  const columns = Object.keys({ version, ...known });
  const select = (otherwise: Readonly<Record<string, string>>) =>
    `select id as ${ROW_KEY}, ${columns.map((column) => `${otherwise[column] ?? column} as ${column}`).join(', ')}`;
  const types = Object.entries(known).map(([column, type]) => `${column} ${type}`);
  const expected = `
    (select f.id, f.version, e.* from ${schema}.fold_${table.name} f, json_to_record(f.expected::json) as e (${types.join(', ')})
     where f.expected <> 'null' and ${isShown(schema, table)}) expected`;
  return {
    table: table.name,
    columns,
    recorded: `${select(recorded)} from ${expected} where ${where}`,
    found: `${select(found)} from ${schema}.${table.name}`,
  };
};

/** Items, keyed by their aggregate too. The event that changed them last is known to the projection only. */
const itemsOf = (
  { schema, departed }: { readonly schema: string; readonly departed: string },
  table: ProjectedTable,
  items: ProjectedItems,
): Comparison => {
  const { version: _, ...known } = columnsOf(items);
  const all = {
    ...Object.fromEntries(items.key.map((column) => [column, items.columns[column as 'id']])),
    ...known,
  };
  const { recorded = {} } = seenOf(items, departed)[1] ?? {};
  const columns = Object.keys(all);
  const types = Object.entries(all).map(([column, type]) => `${column} ${type}`);
  const key = `${keyOf(items)} as ${ROW_KEY}`;
  return {
    table: items.name,
    columns,
    recorded: `select ${key}, ${columns.map((column) => `${recorded[column] ?? column} as ${column}`).join(', ')}
      from (select e.* from ${schema}.fold_${table.name} f, json_to_recordset(f.expected_${items.name}::json) as e (${types.join(', ')})
        where ${isShown(schema, table)}) expected`,
    found: `select ${key}, ${columns.join(', ')} from ${schema}.${items.name}`,
  };
};

/** The event that changed it last is known to the projection only. */
const sharesOf = (
  schema: string,
  table: ProjectedTable,
  { name, columns: all }: ProjectedShares,
): Comparison => {
  const { version: _, ...known } = all;
  const columns = Object.keys(known).filter((column) => column !== 'id');
  const types = Object.entries(known).map(([column, type]) => `${column} ${type}`);
  return {
    table: name,
    columns,
    recorded: `select id as ${ROW_KEY}, ${columns.join(', ')}
      from (select e.* from ${schema}.fold_${table.name} f, json_to_recordset(f.expected_${name}::json) as e (${types.join(', ')})
        where ${isShown(schema, table)}) expected`,
    found: `select id as ${ROW_KEY}, ${columns.join(', ')} from ${schema}.${name}`,
  };
};

/** Parked aggregates are excluded, because their rows are undefined. */
const isShown = (schema: string, { kind }: Pick<Table, 'kind'>): string =>
  `f.id not in (select substr(stream, ${kind.length + 2})::bigint from ${schema}.parked where stream ~ '^${kind}-[1-9][0-9]{0,15}$')`;

/** A user’s content and registrations are removed with the user. */
const seenOf = (table: ProjectedTable | ProjectedItems, departed: string): readonly [Form, Otherwise?] => {
  const { columns, personal, person, afterDeparture } = table;
  if (person === null) return [table];
  if (person !== 'id') {
    if (afterDeparture === 'removed') return [table, { where: `${person} not in ${departed}` }];
    return [
      table,
      {
        recorded: Object.fromEntries(
          personal.map((each) => [each, `case when ${person} not in ${departed} then ${each} end`]),
        ),
      },
    ];
  }
  // Other fields of a deleted user, such as the role, affect no decision.
  const { version: _, ...own } = columnsOf(table);
  const kept = Object.keys(own).filter((column) => !personal.includes(column));
  const found = Object.fromEntries(
    kept.map((column) => [column, `case when deleted_at is null then ${column} end`]),
  );
  return [
    { ...table, columns: { ...columns, is_deleted: 'boolean' } },
    { found: { ...found, is_deleted: 'deleted_at is not null' } },
  ];
};

/** Deleted aggregates with their parents, including those removed with their person. */
const removedOf = (schema: string, tables: Tables, departed: string): Comparison => {
  const removed = (table: ProjectedTable) => {
    const { name } = table;
    const field = fieldOf(table.parent ?? '');
    const goesToo = table.afterDeparture === 'removed' ? ` or "${field}" in ${departed}` : '';
    return `
    select '${name} ' || f.id as ${ROW_KEY}, "${field}" as parent_id
    from ${schema}.fold_${name} f, json_to_record(f.state::json) as s (status text, "${field}" bigint)
    where (status = 'deleted'${goesToo}) and ${isShown(schema, table)}`;
  };
  return {
    table: 'removed',
    columns: ['parent_id'],
    recorded: tables.all
      .filter(({ parent }) => parent !== null)
      .map(removed)
      .join(' union all '),
    found: `select kind || ' ' || id as ${ROW_KEY}, parent_id from ${schema}.removed`,
  };
};
