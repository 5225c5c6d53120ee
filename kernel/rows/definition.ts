import type { FieldDef } from '../declare/fields.ts';
import { column } from '../registry/names.ts';
import type { Kind } from '../registry/registry.ts';
import { columnsOf, partsOf, staysWhenEnded, tableOf } from './table.ts';

/** The SQL that makes the table of a kind, with an index for each list that there is. */
export type TableDefinition = {
  readonly table: string;
  /**
   * As the first releases wrote it, if it is made differently now. The fingerprint has this: a faster way to
   * the same rows needs no rebuild.
   */
  readonly firstTable?: string;
  readonly indexes: readonly string[];
  /**
   * PostgreSQL keeps samples of what is in a column for its planner, longer than a person's data may be
   * there.
   */
  readonly unsampled: string | undefined;
};

/** `ways` are the references by which lists are come by beside those of its own. */
export const definitionOf = (kind: Kind, ways: readonly string[] = []): TableDefinition => {
  const { name, personal } = tableOf(kind);
  const unsampled = personal.map((each) => `alter column ${each} set statistics 0`);
  const searched = searchOf(kind, composed);
  const storage = searched.length === 0 ? '' : ` with (toast_tuple_target = ${SEARCHED_ROW_BYTES_MAX})`;
  return {
    table: `${tableOfLines(name, [...linesOf(kind), ...searched])}${storage}`,
    firstTable: tableOfLines(name, [...linesOf(kind), ...searchOf(kind, (text) => `normalize(${text})`)]),
    indexes: [...orderIndexes(kind, ways), ...sortIndexes(kind), ...filterIndexes(kind)],
    unsampled: personal.length === 0 ? undefined : `alter table ${name} ${unsampled.join(', ')}`,
  };
};

/**
 * A text of some two hundred words stays in its row with its vector: compressing it and storing the vector
 * elsewhere takes longer than writing it.
 */
const SEARCHED_ROW_BYTES_MAX = 4_080;

const tableOfLines = (name: string, lines: readonly string[]): string =>
  `create table ${name} (\n  ${lines.join(',\n  ')}\n)`;

const linesOf = (kind: Kind): readonly string[] => {
  const nullable = new Set([
    ...MAY_BE_NULL,
    ...columnsOf(kind).flatMap(([name, def]) =>
      partsOf(name, def).flatMap((part) => ((part.isNullable ?? isNullable(def)) ? [part.column] : [])),
    ),
  ]);
  return Object.entries(tableOf(kind).columns).map(([name, type]) => {
    if (name === 'id') return `${name} ${type} primary key`;
    return `${name} ${type}${nullable.has(name) ? '' : ' not null'}`;
  });
};

/** Of the kernel's columns. */
const MAY_BE_NULL = ['seal', 'deleted_at'];

/** What is personal is null once its person was erased. */
const isNullable = (def: FieldDef): boolean => def.optional === true || def.personal !== undefined;

/**
 * A text in NFC. PostgreSQL takes as long to compose a text as to make its vector, and nearly every text is
 * ASCII or composed already.
 */
const composed = (text: string): string =>
  `case when octet_length(${text}) = char_length(${text}) or ${text} is nfc normalized then ${text} else normalize(${text}) end`;

/** Texts count by their weight; D is what PostgreSQL takes a text for that says nothing else. */
const searchOf = (kind: Kind, normalized: (text: string) => string): readonly string[] => {
  const parts = columnsOf(kind).flatMap(([name, def]) => {
    const vector = `to_tsvector('simple', ${normalized(column(name, def))})`;
    return def.search === undefined
      ? []
      : [def.search === 'D' ? vector : `setweight(${vector}, '${def.search}')`];
  });
  return parts.length === 0 ? [] : [`search tsvector generated always as ( ${parts.join(' || ')} ) stored`];
};

/**
 * Lists of all, under a parent, and of an owner. Led by the state: a list is a page of one state, or of each,
 * so that what a reader may not see is never passed over row by row.
 */
const orderIndexes = (kind: Kind, ways: readonly string[]): readonly string[] => {
  const { name: table } = tableOf(kind);
  const created = kind.oldestFirst ? 'created_at, id' : 'created_at desc, id desc';
  if (staysWhenEnded(kind)) {
    return [
      `create index ${table}_by_creation on ${table} (${created}) where deleted_at is null`,
      // Those who were deleted were in earlier lists.
      `create index ${table}_departed on ${table} (${created}) where deleted_at is not null`,
    ];
  }
  const states = columnsOf(kind).flatMap(([name, def]) => (def.kind === 'states' ? [column(name, def)] : []));
  const led = [...states, created].join(', ');
  const by = (field: string, order: string) =>
    `create index ${table}_by_${field} on ${table} (${column(field, kind.fields[field])}, ${order})`;
  const { parent, owner } = kind;
  // By which the person is found whose the personal fields are.
  const others = kind.identity.filter((name) => name !== parent && name !== owner && !ways.includes(name));
  return [
    parent === undefined ? `create index ${table}_by_creation on ${table} (${led})` : by(parent, led),
    ...(owner === undefined ? [] : [by(owner, parent === undefined ? led : 'id')]),
    ...ways.map((way) => by(way, led)),
    ...others.map((name) => by(name, 'id')),
  ];
};

/** What is sorted by the moment of an event that leads to a state, is in that state. */
const sortIndexes = (kind: Kind): readonly string[] => {
  const { name: table } = tableOf(kind);
  return columnsOf(kind).flatMap(([name, def]) => {
    if (!def.sort) return [];
    const sort = column(name, def);
    const [label, condition] = stateAt(kind, name) ?? [`by_${sort}`, `${sort} is not null`];
    const order = `${sort} desc, id desc`;
    const of = (columns: string, more: string) =>
      `create index ${table}_${label}${more} on ${table} (${columns}) where ${condition}`;
    const { owner } = kind;
    return [
      of(order, ''),
      ...(owner === undefined ? [] : [of(`${column(owner, kind.fields[owner])}, ${order}`, `_by_${owner}`)]),
    ];
  });
};

const stateAt = (kind: Kind, moment: string): readonly [label: string, condition: string] | undefined => {
  const state = stateOf(kind, moment);
  return state && [state.value, `${column(state.field, kind.fields[state.field])} = '${state.value}'`];
};

/** The state that the event of a moment leads to, if it leads to one. */
export const stateOf = (
  kind: Kind,
  moment: string,
): { readonly field: string; readonly value: string } | undefined => {
  const event = Object.values(kind.events).find(({ sets }) => sets[moment] === 'now');
  const state = Object.entries(event?.sets ?? {}).find(([name]) => kind.fields[name]?.kind === 'states');
  return state && { field: state[0], value: String(state[1]) };
};

const filterIndexes = (kind: Kind): readonly string[] => {
  const { name: table } = tableOf(kind);
  const sets = columnsOf(kind).filter(([, def]) => def.kind === 'set' && def.filter);
  return [
    ...sets.map(
      ([name, def]) =>
        `create index ${table}_by_${def.filter === true ? name : def.filter} on ${table} using gin (${column(name, def)})`,
    ),
    ...(columnsOf(kind).some(([, def]) => def.search)
      ? [`create index ${table}_by_text on ${table} using gin (search)`]
      : []),
  ];
};
