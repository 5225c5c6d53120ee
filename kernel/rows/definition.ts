import { column } from '../base/names.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Kind } from '../registry/registry.ts';
import { stateFieldOf } from '../registry/state-field.ts';
import { staysWhenEnded } from '../registry/stays-when-ended.ts';
import { columnsOf, partsOf, tableOf } from './table.ts';

/** The SQL that creates the table of a kind, with an index for each kind of list. */
export type TableDefinition = {
  readonly table: string;
  /**
   * The SQL of the first releases, if it is different now. The fingerprint uses it: a faster way to the same
   * rows needs no rebuild.
   */
  readonly firstTable?: string;
  readonly indexes: readonly string[];
  /**
   * Disables statistics: PostgreSQL keeps samples of columns for its planner, even after a person’s data is
   * erased.
   */
  readonly unsampled: string | undefined;
};

/** `references` are the references, beside owner and parent, through which callers find rows. */
export const definitionOf = (kind: Kind, references: readonly string[] = []): TableDefinition => {
  const { name, personal } = tableOf(kind);
  // The vector of the search has the words of all fields.
  const isSearched = Object.values(kind.fields).some((def) => def.search !== undefined && def.personal);
  const unsampled = [...personal, ...(isSearched ? ['search'] : [])].map(
    (each) => `alter column ${each} set statistics 0`,
  );
  const searched = searchOf(kind, composed);
  const storage = searched.length === 0 ? '' : ` with (toast_tuple_target = ${SEARCHED_ROW_BYTES_MAX})`;
  return {
    table: `${tableOfLines(name, [...linesOf(kind), ...searched])}${storage}`,
    firstTable: tableOfLines(name, [...linesOf(kind), ...searchOf(kind, (text) => `normalize(${text})`)]),
    indexes: [...orderIndexes(kind, references), ...sortIndexes(kind), ...filterIndexes(kind)],
    unsampled: personal.length === 0 ? undefined : `alter table ${name} ${unsampled.join(', ')}`,
  };
};

/**
 * A text of about two hundred words stays in its row with its vector: compressing and moving the vector takes
 * longer than writing it.
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

/** Columns of the kernel. */
const MAY_BE_NULL = ['seal', 'deleted_at'];

/** Personal values become null on erasure. */
const isNullable = (def: FieldDef): boolean => def.optional === true || def.personal !== undefined;

/**
 * Normalizes a text to NFC only if needed. In PostgreSQL, normalization takes as long as building the vector,
 * and nearly every text is ASCII or already in NFC.
 */
const composed = (text: string): string =>
  `case when octet_length(${text}) = char_length(${text}) or ${text} is nfc normalized then ${text} else normalize(${text}) end`;

/**
 * The weighted text vector; D is PostgreSQL’s default weight. A null text has an empty vector, because a null
 * one would hide the words of all other fields.
 */
const searchOf = (kind: Kind, normalized: (text: string) => string): readonly string[] => {
  const parts = columnsOf(kind).flatMap(([name, def]) => {
    const words = `to_tsvector('simple', ${normalized(column(name, def))})`;
    const vector = isNullable(def) ? `coalesce(${words}, '')` : words;
    return def.search === undefined
      ? []
      : [def.search === 'D' ? vector : `setweight(${vector}, '${def.search}')`];
  });
  return parts.length === 0 ? [] : [`search tsvector generated always as ( ${parts.join(' || ')} ) stored`];
};

/**
 * Indexes for lists of all aggregates, below a parent, and of an owner. The state comes first: a list reads
 * pages of one state or merges several, so that it never skips invisible rows one by one.
 */
const orderIndexes = (kind: Kind, references: readonly string[]): readonly string[] => {
  const { name: table } = tableOf(kind);
  const created = kind.oldestFirst ? 'created_at, id' : 'created_at desc, id desc';
  if (staysWhenEnded(kind)) {
    return [
      `create index ${table}_by_creation on ${table} (${created}) where deleted_at is null`,
      // Earlier snapshots of lists contain users who were deleted since.
      `create index ${table}_departed on ${table} (${created}) where deleted_at is not null`,
    ];
  }
  const state = stateFieldOf(kind);
  const led = [...(state === undefined ? [] : [column(state, kind.fields[state])]), created].join(', ');
  const by = (field: string, order: string) =>
    `create index ${table}_by_${field} on ${table} (${column(field, kind.fields[field])}, ${order})`;
  const { parent, owner } = kind;
  // Finds the person of the personal fields.
  const others = kind.identity.filter(
    (name) => name !== parent && name !== owner && !references.includes(name),
  );
  return [
    parent === undefined ? `create index ${table}_by_creation on ${table} (${led})` : by(parent, led),
    ...(owner === undefined ? [] : [by(owner, parent === undefined ? led : 'id')]),
    ...references.map((reference) => by(reference, led)),
    ...others.map((name) => by(name, 'id')),
  ];
};

/** Rows with the time of an event are in the state to which that event leads. */
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

/** The state to which the event of a time field leads, if any. */
export const stateOf = (
  kind: Kind,
  moment: string,
): { readonly field: string; readonly value: string } | undefined => {
  const event = Object.values(kind.events).find(({ sets }) => sets[moment] === 'now');
  const field = stateFieldOf(kind);
  const value = field === undefined ? undefined : event?.sets[field];
  return field === undefined || value === undefined ? undefined : { field, value: String(value) };
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
