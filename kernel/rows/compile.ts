import { wire } from '../base/names.ts';
import type { Part } from '../declare/fields.ts';
import type { EventInfo, Kind } from '../registry/registry.ts';
import { staysWhenEnded } from '../registry/stays-when-ended.ts';
import { type Change, sealOf } from './change.ts';
import { columnsOf, partsOf, tableOf } from './table.ts';

/** An event as the projection reads it. */
export type Projected = {
  readonly type: string;
  readonly version: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: { readonly at: string; readonly actor: string };
  readonly seal?: string;
};
type Values = Readonly<Record<string, unknown>>;
type Compiled = (event: Projected) => Change;

/**
 * The effect of each type of event on the row of its aggregate, with its columns precomputed: no event
 * consults the declaration or the present row.
 */
export const compileRows = (kind: Kind): ReadonlyMap<string, Compiled> =>
  new Map(Object.values(kind.events).map((event) => [event.type, compile(kind, event)]));

const compile = (kind: Kind, event: EventInfo): Compiled => {
  const key = `${kind.name}Id`;
  const id = ({ data }: Projected) => data[key] as number;
  switch (event.effect) {
    case 'creates':
      return putOf(kind, event, id);
    case 'ends':
      return staysWhenEnded(kind)
        ? emptyOf(kind, id)
        : (each) => ({ kind: 'drop', row: { id: id(each), version: each.version } });
    // Changes only the version, which writers compare.
    case 'notes':
      return (each) => ({ kind: 'patch', row: { id: id(each), version: each.version } });
    default:
      return patchOf(kind, event, id);
  }
};

type IdOf = (event: Projected) => number;

const putOf = (kind: Kind, event: EventInfo, id: IdOf): Compiled => {
  const initial = Object.fromEntries(
    columnsOf(kind).flatMap(([name, def]) =>
      partsOf(name, def).map((part) => [part.column, part.of(def.initial ?? null)]),
    ),
  );
  const copied = copiesOf(kind, [...kind.identity, ...event.values]);
  const sets = setsOf(kind, event);
  const isSealed = isPersonalIn(kind, Object.keys(kind.fields));
  return (each) => {
    const { version, seal, metadata } = each;
    const row: Record<string, unknown> = { id: id(each), ...initial };
    for (const { column, of, from } of copied) row[column] = of(each.data[from]);
    if (isSealed) row.seal = seal ?? null;
    if (staysWhenEnded(kind)) row.deleted_at = null;
    return {
      kind: 'put',
      row: { ...row, ...sets(each), id: id(each), version, created_at: metadata.at, updated_at: metadata.at },
    };
  };
};

const patchOf = (kind: Kind, event: EventInfo, id: IdOf): Compiled => {
  const copied = copiesOf(kind, event.values);
  const sets = setsOf(kind, event);
  const isSealed = isPersonalIn(kind, event.values);
  const isShown = event.spec.quiet !== true;
  return (each) => {
    const changed: Record<string, unknown> = {};
    for (const { column, of, from } of copied) if (from in each.data) changed[column] = of(each.data[from]);
    if (isSealed) Object.assign(changed, sealOf(each));
    const { version } = each;
    const updated = isShown ? { updated_at: each.metadata.at } : undefined;
    return { kind: 'patch', row: { id: id(each), ...changed, ...sets(each), version, ...updated } };
  };
};

/** Personal data is removed at once. */
const emptyOf = (kind: Kind, id: IdOf): Compiled => {
  const empty = Object.fromEntries(tableOf(kind).personal.map((each) => [each, null]));
  return (each) => {
    const { version } = each;
    const { at } = each.metadata;
    return { kind: 'patch', row: { id: id(each), ...empty, version, updated_at: at, deleted_at: at } };
  };
};

/** Copies a field of the data to a column. */
type Copy = Pick<Part, 'column' | 'of'> & { readonly from: string };
const copiesOf = ({ fields }: Kind, names: readonly string[]): readonly Copy[] =>
  names.flatMap((name) =>
    fieldParts(fields, name).map(({ column, of }) => ({ column, of, from: wire(name, fields[name]) })),
  );

const fieldParts = (fields: Kind['fields'], name: string): readonly Part[] => {
  const def = fields[name];
  return def === undefined ? [] : partsOf(name, def);
};

const isPersonalIn = ({ fields }: Kind, names: readonly string[]): boolean =>
  names.some((name) => fields[name]?.personal && fieldParts(fields, name).length > 0);

/** The columns that an event sets by declaration. */
const setsOf = (kind: Kind, { sets }: EventInfo): ((event: Projected) => Values) => {
  const entries = Object.entries(sets).flatMap(([name, value]) =>
    fieldParts(kind.fields, name).map((part) => ({ ...part, value })),
  );
  if (!entries.some(({ value }) => value === 'now' || value === 'caller' || typeof value === 'function')) {
    const fixed = Object.fromEntries(entries.map(({ column, of, value }) => [column, of(value)]));
    return () => fixed;
  }
  return (each) =>
    Object.fromEntries(entries.map(({ column, of, value }) => [column, of(valueIn(each, value))]));
};

/** A declared value: a constant, `now`, `caller`, or a function of the data. */
export const valueIn = ({ data, metadata }: Projected, value: unknown): unknown => {
  if (typeof value === 'function') return value(data);
  return value === 'now' ? metadata.at : value === 'caller' ? userIn(metadata.actor) : value;
};

const ACTOR = /^user:(\d+)$/;
/** The system is no user. */
const userIn = (actor: string): number | null => {
  const [, id] = ACTOR.exec(actor) ?? [];
  return id === undefined ? null : Number(id);
};
