import { oncePer } from '../base/once-per.ts';
import type { Expression } from './expression.ts';

export type State = Readonly<Record<string, unknown>>;
/** Returns the current target of a reference; undefined if it never existed. */
export type Find = (kind: string, id: unknown) => State | undefined;
/** The values of the caller’s own fields that conditions compare. */
export type Attributes = Readonly<Record<string, string | number | boolean | null>>;
/** Evaluates a condition on an aggregate for a caller; the id is null for anonymous callers. */
export type Holds = (state: State, callerId: number | null, find: Find, own?: Attributes) => boolean;

/** Compiles a condition to a function. */
export const holdsOf = oncePer((expression: Expression): Holds => {
  const evaluate = evaluationOf(expression);
  return (state, callerId, find, own) => evaluate({ state, outer: undefined }, callerId, find, own);
});

/** True if any of the conditions is true. */
export const anyHoldsOf = oncePer((expressions: ReadonlySet<Expression>): Holds => {
  const all = [...expressions].map(holdsOf);
  const [first = () => false, ...others] = all;
  return others.reduce(
    (one, other) => (state, callerId, find, own) =>
      one(state, callerId, find, own) || other(state, callerId, find, own),
    first,
  );
});

/** The aggregate or item that is asked, and the one that leads to it. */
type Asked = { readonly state: State; readonly outer: Asked | undefined };
type Evaluate = (asked: Asked, callerId: number | null, find: Find, own?: Attributes) => boolean;

const evaluationOf = oncePer((expression: Expression): Evaluate => compile(expression));

const anyOf = (all: readonly Evaluate[]): Evaluate => {
  const [first = () => false, ...others] = all;
  return others.reduce(
    (one, other) => (asked, callerId, find, own) =>
      one(asked, callerId, find, own) || other(asked, callerId, find, own),
    first,
  );
};

const allOf = (all: readonly Evaluate[]): Evaluate => {
  const [first = () => true, ...others] = all;
  return others.reduce(
    (one, other) => (asked, callerId, find, own) =>
      one(asked, callerId, find, own) && other(asked, callerId, find, own),
    first,
  );
};

const compile = (expression: Expression): Evaluate => {
  switch (expression.op) {
    case 'const': {
      const { value } = expression;
      return () => value;
    }
    case 'and':
      return allOf(expression.of.map(evaluationOf));
    case 'or':
      return anyOf(expression.of.map(evaluationOf));
    case 'not': {
      const holds = evaluationOf(expression.of);
      return (asked, callerId, find, own) => !holds(asked, callerId, find, own);
    }
    case 'is': {
      const { field, value } = expression;
      return ({ state }) => (state[field] ?? null) === value;
    }
    case 'min':
    case 'max': {
      const { field, than } = expression;
      const sign = expression.op === 'min' ? 1 : -1;
      return ({ state }) => sign * compare(state[field], than) >= 0;
    }
    case 'caller': {
      const { field } = expression;
      return ({ state }, callerId) => callerId !== null && state[field] === callerId;
    }
    case 'callers': {
      const { field, attribute } = expression;
      return ({ state }, _callerId, _find, own) => isSame(state[field], own?.[attribute]);
    }
    case 'beside': {
      const { field, by, other, up } = expression;
      return (asked) => isInOrder(by, asked.state[field], stateAbove(asked, up)?.[other]);
    }
    case 'at': {
      const { field, kind } = expression;
      const holds = evaluationOf(expression.of);
      return (asked, callerId, find, own) => {
        const state = find(kind, asked.state[field]);
        return state !== undefined && holds({ state, outer: asked }, callerId, find, own);
      };
    }
    case 'some': {
      const { field } = expression;
      const holds = evaluationOf(expression.of);
      return (outer, callerId, find, own) =>
        itemsIn(outer.state[field]).some((state) => holds({ state, outer }, callerId, find, own));
    }
  }
};

const itemsIn = (items: unknown): readonly State[] => (items ?? []) as readonly State[];

const stateAbove = (asked: Asked | undefined, up: number): State | undefined =>
  up === 0 || asked === undefined ? asked?.state : stateAbove(asked.outer, up - 1);

/** Two values of fields; false if one of them is missing. */
export const isInOrder = (by: 'is' | 'min' | 'max', value: unknown, other: unknown): boolean => {
  if (by === 'is') return isSame(value, other);
  if (typeof other !== 'number' && typeof other !== 'string') return false;
  return (by === 'min' ? 1 : -1) * compare(value, other) >= 0;
};

/** A missing value equals null. */
export const isSame = (value: unknown, own: unknown): boolean =>
  value !== undefined && value !== null && value === own;

/**
 * Returns NaN for a missing value, so that no comparison is true. Instants and dates are strings that sort in
 * the order of time.
 */
export const compare = (value: unknown, than: number | string): number => {
  if (typeof value === 'number' && typeof than === 'number') return value - than;
  if (typeof value === 'string' && typeof than === 'string') return compareTexts(value, than);
  return Number.NaN;
};

/**
 * By code points, as PostgreSQL compares the bytes of UTF-8 with the collation C. JavaScript compares code
 * units, whose surrogates sort before some other characters.
 */
const compareTexts = (one: string, other: string): number => {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index += 1) {
    const [unit, than] = [one.charCodeAt(index), other.charCodeAt(index)];
    if (unit !== than) return rankOf(unit) - rankOf(than);
  }
  return one.length - other.length;
};

const [SURROGATES_FROM, SURROGATES_END] = [0xd800, 0xe000];
const rankOf = (unit: number): number =>
  unit >= SURROGATES_FROM && unit < SURROGATES_END ? unit + 0x10000 : unit;
