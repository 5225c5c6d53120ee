import type { Actor } from '#shared/events/metadata.ts';
import { wire } from '../registry/names.ts';
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
    if (fold === undefined) throw new Error(`${event.type} is no event of ${kind.name}`);
    return fold(state, event);
  };
};

const foldOf = (kind: Kind, event: EventInfo): Evolve => {
  const identity = valuesOf(kind, kind.identity);
  const given = valuesOf(kind, [...kind.identity, ...event.values]);
  const set = settingsOf(event);
  switch (event.effect) {
    case 'creates': {
      const initial = Object.fromEntries(Object.entries(kind.fields).map(([name, def]) => [name, def.initial ?? null]));
      const lists = withoutItems(kind);
      return (_, happened) => {
        const fields = { id: happened.data[`${kind.name}Id`], ...initial, ...lists, ...given(happened.data), ...set(happened) };
        return { status: 'present', fields, lostUploads: '' };
      };
    }
    case 'changes':
    case 'sets': {
      const lost = lostUploadsOf(kind, event);
      return (state, happened) => {
        if (state.status !== 'present') return state;
        const fields = { ...state.fields, ...given(happened.data), ...set(happened) };
        return { ...state, fields, lostUploads: lost(state, happened.data) };
      };
    }
    case 'ends':
      return (_, { data }) => ({ status: 'ended', fields: { id: data[`${kind.name}Id`], ...identity(data) } });
    case 'notes':
      if (event.spec.claim === undefined) return (state) => state;
      return (state, { data }) => (state.status === 'ended' ? state : { ...state, abandoned: String(data.claim) });
    case 'adds':
    case 'updates':
    case 'moves':
    case 'removes': {
      const fold = itemFoldOf(kind, event);
      return (state, happened) => {
        if (state.status !== 'present') return state;
        const folded = fold(state, happened.data);
        return { ...folded, fields: { ...folded.fields, ...set(happened) } };
      };
    }
  }
};

/** Those of some fields that an event holds. */
const valuesOf = (kind: Kind, names: readonly string[]): ((data: Row) => Row) => {
  const pairs = names.map((name) => [name, wire(name, kind.fields[name])] as const);
  return (data) => {
    const values: Record<string, unknown> = {};
    for (const [name, key] of pairs) if (data[key] !== undefined) values[name] = data[key];
    return values;
  };
};

const settingsOf = ({ sets }: EventInfo): ((event: Happened) => Row) => {
  const constants = Object.fromEntries(Object.entries(sets).filter(([, value]) => value !== 'now' && value !== 'caller'));
  const others = Object.entries(sets).filter(([, value]) => value === 'now' || value === 'caller');
  if (others.length === 0) return () => constants;
  return ({ metadata }) => {
    const values: Record<string, unknown> = { ...constants };
    for (const [name, value] of others) values[name] = value === 'now' ? (metadata?.at ?? null) : userOf(metadata?.actor);
    return values;
  };
};

const userOf = (actor: Actor | undefined): number | null => (actor?.startsWith('user:') ? Number(actor.slice('user:'.length)) : null);
