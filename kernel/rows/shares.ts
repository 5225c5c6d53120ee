// Over 200 lines, because it is one compilation: from the declaration of a view to its tables of shares.

import { column, wire } from '../base/names.ts';
import type { EventInfo, Kind, ShareEffect, ShareInfo, ShareSource, ViewInfo } from '../registry/registry.ts';
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
  /** The columns of the key. */
  readonly keys: readonly string[];
  readonly numbers: readonly string[];
  /** Each has a second column for the position of its event. */
  readonly latest: readonly string[];
  readonly share: ShareInfo;
};

export const positionOf = (latest: string): string => `${latest}_position`;

/** The columns of a key, with their types. */
export const keyColumnsOf = ({ key }: ViewInfo): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(key).map(([name, def]) => [column(name, def), def.column]));

const columnOf = ({ values }: ViewInfo, name: string): string => column(name, values[name]?.def);

export const shareTableOf = (view: ViewInfo, share: ShareInfo): ShareTable => {
  const keys = keyColumnsOf(view);
  const named = (isWanted: (kind: string) => boolean) =>
    share.values.filter((name) => isWanted(view.values[name]?.kind ?? ''));
  const numbers = named((kind) => kind !== 'latest').map((name) => columnOf(view, name));
  const latest = named((kind) => kind === 'latest').map(
    (name) => [columnOf(view, name), view.values[name]?.def.column ?? ''] as const,
  );
  return {
    name: share.table,
    kind: share.kind,
    columns: {
      id: 'bigint',
      ...keys,
      // Sums of 64-bit numbers need more than 64 bits.
      ...Object.fromEntries(numbers.map((each) => [each, 'numeric'])),
      ...Object.fromEntries(
        latest.flatMap(([each, type]) => [[each, type] as const, [positionOf(each), 'bigint'] as const]),
      ),
      version: 'integer',
    },
    parent: null,
    personal: [],
    person: null,
    view,
    keys: Object.keys(keys),
    numbers,
    latest: latest.map(([each]) => each),
    share,
  };
};

/** The SQL that creates it, with an index that finds the latest value under a key. */
export const shareDefinitionOf = ({ name, columns, keys, numbers, latest }: ShareTable): TableDefinition => {
  const needed = new Set(['version', ...numbers]);
  const lines = Object.entries(columns).map(([each, type]) => {
    if (each === 'id') return `${each} ${type} primary key`;
    return `${each} ${type}${needed.has(each) ? ' not null' : ''}`;
  });
  return {
    table: `create table ${name} (\n  ${lines.join(',\n  ')}\n)`,
    indexes: latest.map(
      (each) => `create index ${name}_by_${each} on ${name} (${keys.join(', ')}, ${positionOf(each)} desc)`,
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
  const { keys, numbers, latest } = shareTableOf(declared.view, declared.share);
  if (effect?.kind === 'gives') {
    const nothing = Object.fromEntries([
      ...numbers.map((each) => [each, 0]),
      ...latest.flatMap((each) => [
        [each, null],
        [positionOf(each), null],
      ]),
    ]);
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
  const moved = Object.entries(declared.share.by).flatMap(([part, field]) =>
    isChangedBy(event, field) ? [part] : [],
  );
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

/** Only such an event moves an aggregate to another key. */
const isChangedBy = ({ effect, values, sets }: EventInfo, field: string): boolean =>
  effect !== 'creates' && (values.includes(field) || field in sets);

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
    const of = readerOf(kind, event, share.by[part] ?? '');
    return of === undefined ? [] : [{ to: column(part, view.key[part]), of }];
  });

const copiesOf = (
  { kind, view }: DeclaredShare,
  event: EventInfo,
  sources: ShareEffect['sets'],
): readonly Copy[] =>
  Object.entries(sources).flatMap(([value, source]): readonly Copy[] => {
    const to = columnOf(view, value);
    const of = sourceReader(kind, event, source);
    if (of === undefined) return [];
    if (view.values[value]?.kind !== 'latest') return [{ to, of: numberOf(of, source.isNegative) }];
    const position: Read = (each) => (of(each) === undefined ? undefined : each.position);
    return [
      { to, of },
      { to: positionOf(to), of: position },
    ];
  });

const sourceReader = (kind: Kind, event: EventInfo, { from }: ShareSource): Read | undefined => {
  if (from === 'now') return ({ metadata }) => metadata.at;
  return typeof from === 'number' ? () => from : readerOf(kind, event, from.field);
};

/** A missing value has no effect. */
const numberOf =
  (of: Read, isNegative: boolean): Read =>
  (event) => {
    const value = of(event);
    return value === undefined ? undefined : isNegative ? -Number(value) : Number(value);
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
