import type { Actor } from '#shared/events/metadata.ts';
import { wire } from '../registry/names.ts';
import type { EventInfo, Kind, Row } from '../registry/registry.ts';
import { itemFoldOf, withoutItems } from './items.ts';
import { lostUploadsOf } from './uploads.ts';

/** What the events of an aggregate add up to. */
export type AggregateState =
  | ({ readonly status: 'absent' } & Abandoned)
  | Present
  /** Keeps what it belonged to, because rights depend on it even when nothing is left to do. */
  | { readonly status: 'ended'; readonly fields: Row };

/** The latest claim of a unique value that was given up: of what was not there yet, it has spent the id. */
type Abandoned = { readonly abandoned?: string };

export type Present = Abandoned & {
  readonly status: 'present';
  /** With the id. */
  readonly fields: Row;
  /** Each with a line break, in one text, by whose length the state weighs. */
  readonly lostUploads: string;
  /** The highest number that an item was given, by the lists whose items have numbers: none is given again. */
  readonly numbers?: Readonly<Record<string, number>>;
};

/** As it was decided, and as it was recorded. */
export type Happened = { readonly type: string; readonly data: Row; readonly metadata?: { readonly at: string; readonly actor: Actor } };
export type Evolve = (state: AggregateState, event: Happened) => AggregateState;

export const ABSENT: AggregateState = { status: 'absent' };

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
