import type { Field, Fields, Instant, List, Ref, Upload } from './fields.ts';

/**
 * A condition on an aggregate, as data: the name of a fact; an object, whose entries must all hold; or a
 * list, one of which must hold. One condition becomes a check in memory, an SQL condition, and a check of
 * each event.
 */
export type Condition<Fact extends string, F extends Fields, D, S = Sorts<F, D>> =
  /** A fact: a word of a choice or of states, `own`, or a declared fact. */
  | Fact
  /** All of these hold; `{ published: false }` means that the fact does not hold. */
  | Match<Fact, F, D, S>
  /** Any of these holds. */
  | readonly (Fact | Match<Fact, F, D, S>)[];

/**
 * Facts and values of fields. For a reference, a condition on its target. `S` has the fields of the aggregate
 * that has the condition, for comparisons with them.
 */
export type Match<Fact extends string, F extends Fields, D, S = Sorts<F, D>> = {
  readonly [K in Fact | keyof F | Named<D>]?: K extends Fact
    ? boolean
    : K extends keyof F
      ? MatchOf<F[K], S>
      : ValueMatch<number, Other<S, 'number'>>;
};
type MatchOf<X, S> = (X extends List<Fields> ? never : CallersMatch) | MatchOfOwn<X, S>;
type MatchOfOwn<X, S> =
  X extends List<infer I>
    ? ListMatch<I>
    : X extends Ref<infer A, infer N>
      ? RefMatch<A, N, Other<S, SortOf<X>>, S>
      : X extends Field<infer T>
        ? ValueMatch<T, Other<S, SortOf<X>>>
        : never;

/** Fields of one sort can be compared with each other. */
type Sorts<F, D> = { readonly [K in keyof F]: SortOf<F[K]> } & { readonly [K in Named<D>]: 'number' };
/** None if the compiler did not infer them, so that it reports one mistake. */
type Named<D> = string extends keyof D ? never : keyof D;
type SortOf<X> =
  X extends List<Fields>
    ? never
    : X extends { readonly later: infer Kind extends string }
      ? `ref ${Kind}`
      : X extends Ref<infer A, unknown>
        ? A extends { readonly kind: infer Kind extends string }
          ? `ref ${Kind}`
          : 'ref'
        : X extends Upload<unknown>
          ? never
          : X extends Instant<unknown>
            ? 'instant'
            : X extends Field<infer T>
              ? SortOfValue<NonNullable<T>>
              : never;
type SortOfValue<T> = [T] extends [string]
  ? 'text'
  : [T] extends [number]
    ? 'number'
    : [T] extends [boolean]
      ? 'flag'
      : never;
/** A field of this sort, in place of a value. */
type Other<S, Sort> = { readonly field: FieldOfSort<S, Sort> };
type FieldOfSort<S, Sort> = {
  [K in keyof S & string]: [S[K], Sort] extends [Sort, S[K]] ? ([Sort] extends [never] ? never : K) : never;
}[keyof S & string];

type CallersMatch = {
  /** Equals this field of the caller, as declared for users: `{ department: { caller: 'department' } }`. */
  readonly caller: string;
};
type ListMatch<I extends Fields> = {
  /** At least one item matches: `{ members: { some: { user: 'caller' } } }`. */
  readonly some: Match<never, I, unknown, Record<never, never>>;
};
export type ValueMatch<T, Other = never> =
  | Equality<T, Other>
  /** At least `min`, at most `max`, or both; null does not match. */
  | Order<T, Other>;
type Equality<T, Other> =
  /** Equals this value, or one of these; `null` is an empty field, or no reference. */
  | (T | readonly T[])
  /**
   * Equals this field of the aggregate that has the condition, also if it asks the target of a reference;
   * null equals nothing. Likewise in `not`, `min` and `max`.
   */
  | Other
  /** Equals none of these values; `{ not: null }` is any value. */
  | { readonly not: T | readonly T[] | Other };
type Order<T, Other> = Range<NonNullable<T> | Other>;
type Range<V> = { readonly min: V; readonly max?: V } | { readonly max: V };
type RefMatch<A, N, Other, S> =
  | Equality<N, Other>
  /** The target exists, and this condition holds for it; for a user also `'caller'`. */
  | (A extends Asked<infer Target> ? ConditionOn<Target, S> : ByName<A>);
type ByName<A> = unknown extends A ? Untyped : never;
/** A condition on an aggregate that is referred to by its name; the start checks it. */
type Untyped = string | UntypedMatch | readonly (string | UntypedMatch)[];
type UntypedMatch = { readonly [name: string]: unknown };

declare const ASKED: unique symbol;
/** The facts and fields that conditions on an aggregate can use, carried by its type alone. */
export interface Asked<out Target> {
  readonly [ASKED]?: Target;
}
export type AskedOf<Fact, F, D> = { readonly fact: Fact; readonly fields: F; readonly derived: D };
type ConditionOn<Target, S> =
  Target extends AskedOf<infer Fact extends string, infer F extends Fields, infer D>
    ? Condition<Fact, F, D, S>
    : never;
/** A condition that an aggregate has itself. */
export type OwnCondition<Target> =
  Target extends AskedOf<infer Fact extends string, infer F extends Fields, infer D>
    ? Condition<Fact, F, D>
    : never;
