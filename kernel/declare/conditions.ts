import type { Field, Fields, List, Ref } from './fields.ts';

/**
 * What is asked of an aggregate, as data: the name of a fact; an object, all of which must hold; or a list, any of which must hold.
 * One condition becomes a check in memory, an SQL condition, and a check of each event.
 */
export type Condition<Fact extends string, F extends Fields, D> = Fact | Match<Fact, F, D> | readonly (Fact | Match<Fact, F, D>)[];

/** Facts, as they must be, and values of fields. Of a reference, a condition on the aggregate that it leads to. */
export type Match<Fact extends string, F extends Fields, D> = {
  readonly [K in Fact | keyof F | keyof D]?: K extends Fact ? boolean : K extends keyof F ? MatchOf<F[K]> : ValueMatch<number>;
};
type MatchOf<X> =
  X extends List<infer I>
    ? { readonly some: Match<never, I, unknown> }
    : X extends Ref<infer A, infer N>
      ? RefMatch<A, N>
      : X extends Field<infer T>
        ? ValueMatch<T>
        : never;
/** A value, one of several, none of several, or what lies between. */
export type ValueMatch<T> =
  | T
  | readonly T[]
  | { readonly not: T | readonly T[] }
  | { readonly min: NonNullable<T> }
  | { readonly max: NonNullable<T> };
/** What a reference leads to must be there; whether it is the caller can be asked of no reference too. */
type RefMatch<A, N> = N | { readonly not: N } | (A extends Asked<infer C> ? C : never);

declare const ASKED: unique symbol;
/** What can be asked of an aggregate, carried by its type alone. */
export interface Asked<out C> {
  readonly [ASKED]?: C;
}
