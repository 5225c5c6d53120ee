import type { Actor } from '../base/events/metadata.ts';
import { wire } from '../base/names.ts';
import type { EventInfo, Kind, Row } from '../registry/registry.ts';
import { itemFoldOf, withoutItems } from './items.ts';
import type { AggregateState, Happened } from './state.ts';
import { lostUploadsOf } from './uploads.ts';

export type Evolve = (state: AggregateState, event: Happened) => AggregateState;

/** The fold of an aggregate, compiled from the effects of its events. Pure. */
export const evolveOf = (kind: Kind): Evolve => {
  const folds = new Map(Object.values(kind.events).map((event) => [event.type, foldOf(kind, event)]));
  return (state, event) => {
    const fold = folds.get(event.type);
    if (fold === undefined) throw new Error(`${event.type} is not an event of ${kind.name}`);
    return fold(state, event);
  };
};

const foldOf = (kind: Kind, event: EventInfo): Evolve => {
  const identity = valuesOf(kind, kind.identity);
  const given = valuesOf(kind, [...kind.identity, ...event.values]);
  const set = settingsOf(event);
  const merge = mergeOf(kind);
  switch (event.effect) {
    case 'creates': {
      const initial = Object.fromEntries(
        Object.entries(kind.fields).map(([name, def]) => [
          name,
          def.remembers === undefined ? (def.initial ?? null) : [],
        ]),
      );
      const lists = withoutItems(kind);
      return (_, happened) => {
        const before = { id: happened.data[`${kind.name}Id`], ...initial, ...lists };
        return {
          status: 'present',
          fields: { ...merge(before, given(happened.data)), ...set(happened) },
          lostUploads: '',
        };
      };
    }
    case 'changes':
    case 'sets': {
      const lost = lostUploadsOf(kind, event);
      return (state, happened) => {
        if (state.status !== 'present') return state;
        const fields = { ...merge(state.fields, given(happened.data)), ...set(happened) };
        return { ...state, fields, lostUploads: lost(state, happened.data) };
      };
    }
    case 'ends':
      return (_, { data }) => ({
        status: 'ended',
        fields: { id: data[`${kind.name}Id`], ...identity(data) },
      });
    case 'notes':
      if (event.spec.claim === undefined) return (state) => state;
      return (state, { data }) =>
        state.status === 'ended' ? state : { ...state, abandoned: String(data.claim) };
    case 'adds':
    case 'updates':
    case 'moves':
    case 'removes': {
      const [fold, lost] = [itemFoldOf(kind, event), lostUploadsOf(kind, event)];
      return (state, happened) => {
        if (state.status !== 'present') return state;
        const folded = fold(state, happened.data);
        return {
          ...folded,
          fields: { ...folded.fields, ...set(happened) },
          lostUploads: lost(state, happened.data),
        };
      };
    }
  }
};

/** Merges new values, and keeps the former values of fields that are remembered. */
const mergeOf = ({ fields }: Kind): ((before: Row, values: Row) => Row) => {
  const remembered = Object.entries(fields).flatMap(([name, { remembers }]) =>
    remembers === undefined ? [] : [[name, remembers] as const],
  );
  if (remembered.length === 0) return (before, values) => ({ ...before, ...values });
  return (before, values) => {
    const after: Record<string, unknown> = { ...before, ...values };
    for (const [name, max] of remembered)
      if (name in values)
        after[name] = [...((before[name] ?? []) as readonly unknown[]), values[name]].slice(-max);
    return after;
  };
};

/** The values of some fields in an event. */
const valuesOf = (kind: Kind, names: readonly string[]): ((data: Row) => Row) => {
  const pairs = names.map((name) => [name, wire(name, kind.fields[name])] as const);
  return (data) => {
    const values: Record<string, unknown> = {};
    for (const [name, key] of pairs) if (data[key] !== undefined) values[name] = data[key];
    return values;
  };
};

/** The values that an event sets by declaration. */
const settingsOf = ({ sets }: EventInfo): ((event: Happened) => Row) => {
  const isConstant = (value: unknown): boolean =>
    value !== 'now' && value !== 'caller' && typeof value !== 'function';
  const constants = Object.fromEntries(Object.entries(sets).filter(([, value]) => isConstant(value)));
  const others = Object.entries(sets).filter(([, value]) => !isConstant(value));
  if (others.length === 0) return () => constants;
  return ({ data, metadata }) => {
    const values: Record<string, unknown> = { ...constants };
    for (const [name, value] of others)
      values[name] =
        typeof value === 'function'
          ? value(data)
          : value === 'now'
            ? (metadata?.at ?? null)
            : userOf(metadata?.actor);
    return values;
  };
};

const userOf = (actor: Actor | undefined): number | null =>
  actor?.startsWith('user:') ? Number(actor.slice('user:'.length)) : null;
