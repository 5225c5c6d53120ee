import { type Change, sealOf } from '#shared/read-model/change.ts';
import { column, wire } from '../registry/names.ts';
import type { EventInfo, Kind } from '../registry/registry.ts';
import { columnsOf, staysWhenEnded } from './table.ts';

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
 * What each type of event does to the row of its aggregate, with the columns fixed once: nothing reads the declaration per event, and
 * no event reads what is there.
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
      return staysWhenEnded(kind) ? emptyOf(kind, id) : (each) => ({ kind: 'drop', row: { id: id(each), version: each.version } });
    // Says nothing of the aggregate, but counts as a version, which writers compare.
    case 'notes':
      return (each) => ({ kind: 'patch', row: { id: id(each), version: each.version } });
    default:
      return patchOf(kind, event, id);
  }
};

type IdOf = (event: Projected) => number;

const putOf = (kind: Kind, event: EventInfo, id: IdOf): Compiled => {
  const initial = Object.fromEntries(columnsOf(kind).map(([name, def]) => [column(name, def), def.initial ?? null]));
  const copied = copiesOf(kind, [...kind.identity, ...event.values]);
  const sets = setsOf(kind, event);
  const isSealed = columnsOf(kind).some(([, def]) => def.personal);
  return (each) => {
    const { version, seal, metadata } = each;
    const row: Record<string, unknown> = { id: id(each), ...initial };
    for (const [to, from] of copied) row[to] = each.data[from];
    if (isSealed) row.seal = seal ?? null;
    if (staysWhenEnded(kind)) row.deleted_at = null;
    return { kind: 'put', row: { ...row, ...sets(each), id: id(each), version, created_at: metadata.at, updated_at: metadata.at } };
  };
};

const patchOf = (kind: Kind, event: EventInfo, id: IdOf): Compiled => {
  const copied = copiesOf(kind, event.values);
  const sets = setsOf(kind, event);
  const isSealed = event.values.some((name) => kind.fields[name]?.personal);
  return (each) => {
    const changed: Record<string, unknown> = {};
    for (const [to, from] of copied) if (from in each.data) changed[to] = each.data[from];
    if (isSealed) Object.assign(changed, sealOf(each));
    const { version } = each;
    return { kind: 'patch', row: { id: id(each), ...changed, ...sets(each), version, updated_at: each.metadata.at } };
  };
};

/** What is personal goes at once. */
const emptyOf = (kind: Kind, id: IdOf): Compiled => {
  const personal = columnsOf(kind).filter(([, def]) => def.personal);
  const empty = Object.fromEntries(personal.map(([name, def]) => [column(name, def), null]));
  return (each) => {
    const { version } = each;
    const { at } = each.metadata;
    return { kind: 'patch', row: { id: id(each), ...empty, version, updated_at: at, deleted_at: at } };
  };
};

/** From which field of the data to which column. */
const copiesOf = (kind: Kind, names: readonly string[]): readonly (readonly [column: string, field: string])[] =>
  names.map((name) => [column(name, kind.fields[name]), wire(name, kind.fields[name])]);

const setsOf = (kind: Kind, { sets }: EventInfo): ((event: Projected) => Values) => {
  const entries = Object.entries(sets).map(([name, value]) => [column(name, kind.fields[name]), value] as const);
  if (!entries.some(([, value]) => value === 'now' || value === 'caller')) {
    const fixed = Object.fromEntries(entries);
    return () => fixed;
  }
  return ({ metadata }) =>
    Object.fromEntries(
      entries.map(([to, value]) => [to, value === 'now' ? metadata.at : value === 'caller' ? userIn(metadata.actor) : value]),
    );
};

const ACTOR = /^user:(\d+)$/;
/** The system is no user. */
const userIn = (actor: string): number | null => {
  const [, id] = ACTOR.exec(actor) ?? [];
  return id === undefined ? null : Number(id);
};
