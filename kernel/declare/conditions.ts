import type { Field, Fields, List, Ref } from './fields.ts';

/**
 * What is asked of an aggregate, as data: the name of a fact; an object, all of which must hold; or a list,
 * any of which must hold. One condition becomes a check in memory, an SQL condition, and a check of each
 * event.
 */
export type Condition<Fact extends string, F extends Fields, D> =
  /** A fact is true: a word of a choice or of states, `own`, or one that the declaration names. */
  | Fact
  /** All of these are true; `{ published: false }` asks that a fact is not. */
  | Match<Fact, F, D>
  /** Any of these is true. */
  | readonly (Fact | Match<Fact, F, D>)[];

/**
 * Facts, as they must be, and values of fields. Of a reference, a condition on the aggregate that it leads
 * to.
 */
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
  /**
   * It has the value that this field of the caller has, as users are declared: `{ department: { caller:
   * 'department' } }`.
   */
  readonly caller: string;
};
type ListMatch<I extends Fields> = {
  /** One of the items is so: `{ members: { some: { user: 'caller' } } }`. */
  readonly some: Match<never, I, unknown>;
};
export type ValueMatch<T> =
  /** It is this value. */
  | T
  /** It is one of these. */
  | readonly T[]
  /** It is none of these. */
  | { readonly not: T | readonly T[] }
  /** It has a value that is not below this. */
  | { readonly min: NonNullable<T> }
  /** It has a value that is not above this. */
  | { readonly max: NonNullable<T> };
type RefMatch<A, N> =
  /** An optional reference leads nowhere. */
  | N
  /** An optional reference names something. */
  | { readonly not: N }
  /** What the reference leads to is there, and this is true of it; of a user also `'caller'`. */
  | (A extends Asked<infer C> ? C : never);

declare const ASKED: unique symbol;
/** What can be asked of an aggregate, carried by its type alone. */
export interface Asked<out C> {
  readonly [ASKED]?: C;
}
