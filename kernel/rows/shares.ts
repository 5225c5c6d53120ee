// Over 200 lines, because it is one compilation: from the declaration of a view to its tables of shares.

import { column, wire } from '../base/names.ts';
import { periodOf } from '../base/period.ts';
import type {
  EventInfo,
  Kind,
  ShareEffect,
  ShareInfo,
  ShareSource,
  ViewInfo,
  ViewValue,
} from '../registry/registry.ts';
import { isOfOneShare } from '../registry/view-of.ts';
import type { Table } from './change.ts';
import { type Projected, valueIn } from './compile.ts';
import type { TableDefinition } from './definition.ts';

/**
 * The contribution of each aggregate of a kind to a view, as a row computed from its own events: no event
 * reads the view, and an aggregate that ends, is parked or moves to another key takes its contribution out of
 * the sums.
 */
export type ShareTable = Table & {
  readonly view: ViewInfo;
  readonly keys: readonly string[];
  /** Counts and sums. */
  readonly numbers: readonly string[];
  /** Each is null if the share has none. */
  readonly averages: readonly string[];
  readonly chosen: readonly Chosen[];
  readonly share: ShareInfo;
};

/** A value of a row that one of its shares gives: the one that is first in an order. */
export type Chosen = {
  readonly column: string;
  readonly type: string;
  /** The column of the order, which is null in shares without the value. */
  readonly by: string;
  readonly isHighest: boolean;
};

/** The column with the position of the event that gave a latest value. */
export const positionOf = (latest: string): string => `${latest}_position`;

/** By view; by those of the values in `names` if given. */
export const chosenIn = (
  view: ViewInfo,
  names: readonly string[] = Object.keys(view.values),
): readonly Chosen[] =>
  names.flatMap((name) => {
    const value = view.values[name];
    if (value === undefined || !isOfOneShare(value)) return [];
    const to = column(name, value.def);
    const isLatest = value.kind === 'latest';
    return [
      {
        ...{ column: to, type: value.def.column },
        ...{ by: isLatest ? positionOf(to) : to, isHighest: value.kind !== 'min' },
      },
    ];
  });

/** The columns of a share for these values, when it has none of them. */
export const emptyShareOf = ({ numbers, averages, chosen }: ShareTable): Row => ({
  ...Object.fromEntries(numbers.map((each) => [each, 0])),
  ...Object.fromEntries(
    [...averages, ...chosen.flatMap(({ column: each, by }) => [each, by])].map((each) => [each, null]),
  ),
});

export const columnsOfKind = (
  view: ViewInfo,
  kinds: readonly ViewValue['kind'][],
  names: readonly string[] = Object.keys(view.values),
): readonly string[] =>
  names.flatMap((name) => {
    const value = view.values[name];
    return value !== undefined && kinds.includes(value.kind) ? [column(name, value.def)] : [];
  });

/** The columns of a key, with their types. */
export const keyColumnsOf = ({ key }: ViewInfo): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(key).map(([name, def]) => [column(name, def), def.column]));

export const shareTableOf = (view: ViewInfo, share: ShareInfo): ShareTable => {
  const keys = keyColumnsOf(view);
  const numbers = columnsOfKind(view, ['sum'], share.values);
  const averages = columnsOfKind(view, ['avg'], share.values);
  const chosen = chosenIn(view, share.values);
  return {
    name: share.table,
    kind: share.kind,
    columns: {
      id: 'bigint',
      ...keys,
      // Sums of 64-bit numbers need more than 64 bits.
      ...Object.fromEntries([...numbers, ...averages].map((each) => [each, 'numeric'])),
      ...Object.fromEntries(
        chosen.flatMap(({ column: each, type, by }) => [[by, 'bigint'] as const, [each, type] as const]),
      ),
      version: 'integer',
    },
    parent: null,
    personal: [],
    person: null,
    view,
    keys: Object.keys(keys),
    ...{ numbers, averages, chosen },
    share,
  };
};

/** The SQL that creates it, with an index for each value that one share gives to its row. */
export const shareDefinitionOf = ({ name, columns, keys, numbers, chosen }: ShareTable): TableDefinition => {
  const needed = new Set(['version', ...numbers]);
  const lines = Object.entries(columns).map(([each, type]) => {
    if (each === 'id') return `${each} ${type} primary key`;
    return `${each} ${type}${needed.has(each) ? ' not null' : ''}`;
  });
  return {
    table: `create table ${name} (\n  ${lines.join(',\n  ')}\n)`,
    indexes: chosen.map(
      ({ column: each, by, isHighest }) =>
        `create index ${name}_by_${each} on ${name} (${[...keys, `${by}${isHighest ? ' desc' : ''}`].join(', ')})`,
    ),
    unsampled: undefined,
  };
};

type Row = Readonly<Record<string, unknown>>;

/** The effect of an event on the share of its aggregate; numbers in `added` are added to it. */
export type ShareChange = {
  readonly kind: 'put' | 'patch' | 'drop';
  readonly row: Row;
  readonly added: Readonly<Record<string, number>>;
};

export type Positioned = Projected & { readonly position: number };
type Compiled = (event: Positioned) => ShareChange;

/** The effect of each type of event on a share, with its columns precomputed; other types have none. */
export const compileShares = (kind: Kind, view: ViewInfo, share: ShareInfo): ReadonlyMap<string, Compiled> =>
  new Map(
    Object.values(kind.events).flatMap((event) => {
      const compiled = compile({ kind, view, share }, event);
      return compiled === undefined ? [] : [[event.type, compiled] as const];
    }),
  );

type DeclaredShare = { readonly kind: Kind; readonly view: ViewInfo; readonly share: ShareInfo };

const compile = (declared: DeclaredShare, event: EventInfo): Compiled | undefined => {
  const effect = declared.share.on[event.name];
  const key = `${declared.kind.name}Id`;
  if (event.effect === 'ends' || effect?.kind === 'ends')
    return ({ data, version }) => ({ kind: 'drop', row: { id: data[key], version }, added: {} });
  const table = shareTableOf(declared.view, declared.share);
  const { keys } = table;
  if (effect?.kind === 'gives') {
    const nothing = emptyShareOf(table);
    const copy = copying([
      ...keyCopies(declared, event, Object.keys(declared.share.by)),
      ...copiesOf(declared, event, effect.sets),
    ]);
    return (each) => ({
      kind: 'put',
      row: { id: each.data[key], ...nothing, ...copy(each), version: each.version },
      added: {},
    });
  }
  const moved = Object.keys(declared.share.by).filter((part) => isMovedBy(declared, event, part));
  const copies = [...keyCopies(declared, event, moved), ...copiesOf(declared, event, effect?.sets ?? {})];
  const additions = copiesOf(declared, event, effect?.adds ?? {});
  if (keys.length === 0 || copies.length + additions.length === 0) return undefined;
  const [copy, add] = [copying(copies), copying(additions)];
  return (each) => ({
    kind: 'patch',
    row: { id: each.data[key], ...copy(each), version: each.version },
    added: add(each) as Readonly<Record<string, number>>,
  });
};

/**
 * Only such an event moves an aggregate to another key. The time of the event that gave the share stays its
 * key.
 */
const isMovedBy = ({ share }: DeclaredShare, { effect, values, sets }: EventInfo, part: string): boolean => {
  const field = share.by[part] ?? '';
  if (effect === 'creates' || isEventTime(share, part)) return false;
  return values.includes(field) || field in sets;
};

/** Whether this part of the key is a period of the time of the event. */
export const isEventTime = ({ by, periods }: ShareInfo, part: string): boolean =>
  periods?.[part] !== undefined && by[part] === 'now';

/** A part of the key, from the value of its field. */
export const keyPartOf = ({ periods }: ShareInfo, part: string, value: unknown): unknown => {
  const period = periods?.[part];
  return period === undefined || typeof value !== 'string' ? value : periodOf(period, value);
};

type Read = (event: Positioned) => unknown;
type Copy = { readonly to: string; readonly of: Read };

const copying =
  (copies: readonly Copy[]): ((event: Positioned) => Row) =>
  (event) => {
    const values: Record<string, unknown> = {};
    for (const { to, of } of copies) {
      const value = of(event);
      if (value !== undefined) values[to] = value;
    }
    return values;
  };

const keyCopies = (
  { kind, view, share }: DeclaredShare,
  event: EventInfo,
  parts: readonly string[],
): readonly Copy[] =>
  parts.flatMap((part) => {
    const of = isEventTime(share, part) ? timeOf : readerOf(kind, event, share.by[part] ?? '');
    if (of === undefined) return [];
    return [{ to: column(part, view.key[part]), of: (each) => keyPartOf(share, part, of(each)) }];
  });

const copiesOf = (
  { kind: aggregate, view }: DeclaredShare,
  event: EventInfo,
  sources: ShareEffect['sets'],
): readonly Copy[] =>
  Object.entries(sources).flatMap(([value, source]): readonly Copy[] => {
    const to = column(value, view.values[value]?.def);
    const of = sourceReader(aggregate, event, source);
    if (of === undefined) return [];
    const kind = view.values[value]?.kind;
    if (kind === 'min' || kind === 'max') return [{ to, of }];
    if (kind !== 'latest') return [{ to, of: numberOf(of, kind === 'avg', source.isNegative) }];
    const position: Read = (each) => (of(each) === undefined ? undefined : each.position);
    return [
      { to, of },
      { to: positionOf(to), of: position },
    ];
  });

const timeOf: Read = ({ metadata }) => metadata.at;

const sourceReader = (kind: Kind, event: EventInfo, { from }: ShareSource): Read | undefined => {
  if (from === 'now') return timeOf;
  return typeof from === 'number' ? () => from : readerOf(kind, event, from.field);
};

const numberOf =
  (of: Read, mayBeEmpty: boolean, isNegative: boolean): Read =>
  (event) =>
    shareNumber(of(event), mayBeEmpty, isNegative);

/** A missing value has no effect. Null is 0 in a sum, and no part of an average. */
export const shareNumber = (
  value: unknown,
  mayBeEmpty: boolean,
  isNegative: boolean,
): number | null | undefined => {
  if (value === undefined || (value === null && mayBeEmpty)) return value;
  return isNegative ? -Number(value) : Number(value);
};

/** Reads a field, or the id of the aggregate, from an event; undefined if the event does not contain it. */
export const readerOf = (kind: Kind, event: EventInfo, field: string): Read | undefined => {
  if (field === 'id') return ({ data }) => data[`${kind.name}Id`];
  if (field in event.sets) {
    const value = event.sets[field];
    return (each) => valueIn(each, value);
  }
  const held = [...kind.identity, ...event.values, ...event.carries];
  if (held.includes(field)) {
    const name = wire(field, kind.fields[field]);
    return ({ data }) => data[name];
  }
  const initial = kind.fields[field]?.initial ?? null;
  return event.effect === 'creates' ? () => initial : undefined;
};
