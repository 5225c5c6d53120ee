import type { Field, Fields, List, Ref } from './fields.ts';

/**
 * A condition on an aggregate, as data: the name of a fact; an object, whose entries must all hold; or a
 * list, one of which must hold. One condition becomes a check in memory, an SQL condition, and a check of
 * each event.
 */
export type Condition<Fact extends string, F extends Fields, D> =
  /** A fact: a word of a choice or of states, `own`, or a declared fact. */
  | Fact
  /** All of these hold; `{ published: false }` means that the fact does not hold. */
  | Match<Fact, F, D>
  /** Any of these holds. */
  | readonly (Fact | Match<Fact, F, D>)[];

/** Facts and values of fields. For a reference, a condition on its target. */
export type Match<Fact extends string, F extends Fields, D> = {
  readonly [K in Fact | keyof F | keyof D]?: K extends Fact
    ? boolean
    : K extends keyof F
      ? MatchOf<F[K]>
      : ValueMatch<number>;
};
type MatchOf<X> = (X extends List<Fields> ? never : CallersMatch) | MatchOfOwn<X>;
type MatchOfOwn<X> =
  X extends List<infer I>
    ? ListMatch<I>
    : X extends Ref<infer A, infer N>
      ? RefMatch<A, N>
      : X extends Field<infer T>
        ? ValueMatch<T>
        : never;
type CallersMatch = {
  /** Equals this field of the caller, as declared for users: `{ department: { caller: 'department' } }`. */
  readonly caller: string;
};
type ListMatch<I extends Fields> = {
  /** At least one item matches: `{ members: { some: { user: 'caller' } } }`. */
  readonly some: Match<never, I, unknown>;
};
export type ValueMatch<T> =
  /** Equals this value. */
  | T
  /** Equals one of these values. */
  | readonly T[]
  /** Equals none of these values. */
  | { readonly not: T | readonly T[] }
  /** At least this value, and at most `max` if that is given too; null does not match. */
  | { readonly min: NonNullable<T>; readonly max?: NonNullable<T> }
  /** At most this value; null does not match. */
  | { readonly max: NonNullable<T> };
type RefMatch<A, N> =
  /** The optional reference is empty. */
  | N
  /** The optional reference is set. */
  | { readonly not: N }
  /** The target exists, and this condition holds for it; for a user also `'caller'`. */
  | (A extends Asked<infer C> ? C : never);

declare const ASKED: unique symbol;
/** The conditions that an aggregate supports, carried by its type alone. */
export interface Asked<out C> {
  readonly [ASKED]?: C;
}
