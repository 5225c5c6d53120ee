import type { Fields, List, States, ValueOf } from './fields.ts';

/**
 * Escape hatches for what data cannot express: SQL expressions with the same in memory, and values that code
 * computes from events. Each is pure.
 */

/** The types of values in code, by their GraphQL names. */
interface Shown {
  readonly Int: number;
  readonly Boolean: boolean;
  readonly String: string;
}
type Plain<F> = { [K in keyof F & string]: F[K] extends List<Fields> ? never : K }[keyof F & string];
/** The SQL names of the columns of the fields. */
type Columns<F, D> = { readonly [K in Plain<F> | (keyof D & string)]: string };
type StateOf<F, D> = { readonly [K in Plain<F>]: K extends keyof F ? ValueOf<F[K]> : never } & {
  readonly [K in keyof D & string]: number;
};

type ExpressionOf<F, D, T extends keyof Shown> = {
  /** Its type. The field is null if the expression is. */
  readonly type: T;
  /** One sentence for the schema. */
  readonly says?: string;
  /** An expression over columns: `({ minutes }) => minutes + ' / 60'`. */
  readonly sql: (columns: Columns<F, D>) => string;
  /**
   * The same in memory, for answers that are built field by field and for time travel. Only the fields that
   * `sql` names are given.
   */
  readonly value: (state: StateOf<F, D>) => Shown[T] | null;
};
/** A computed field of the GraphQL type. */
export type Expression<F, D> = { [T in keyof Shown]: ExpressionOf<F, D, T> }[keyof Shown];

type CustomFilterOf<F, D, T extends keyof Shown> = {
  /** The type of the parameter: a number, a boolean, or a text of at most 200 characters. */
  readonly takes: T;
  /** One sentence for the schema and for `/openapi.json`. */
  readonly says?: string;
  /** A condition on columns and the parameter: `({ seats }, least) => seats + ' >= ' + least`. */
  readonly sql: (columns: Columns<F, D>, given: string) => string;
  /** The same in memory, for lists with time travel. Only the fields that `sql` names are given. */
  readonly holds: (state: StateOf<F, D>, given: Shown[T]) => boolean;
};
/** A filter of lists, beside the fields with `filter()`. */
export type CustomFilter<F, D> = { [T in keyof Shown]: CustomFilterOf<F, D, T> }[keyof Shown];

type Projection<T, E, DataOf> = {
  /**
   * Computes the value after an event, by name of the event; undefined keeps the value. Personal and guarded
   * data is not given.
   */
  readonly by: { readonly [N in keyof E & keyof DataOf & string]?: (data: DataOf[N]) => T | undefined };
  /** 1 by default; raise it when the code changes its result, and the read model is rebuilt. */
  readonly version?: number;
};
/** Fields whose values come from no form and no decision: code computes them from events. */
export type Projections<F, E, DataOf> = {
  readonly [K in Projected<F>]?: Projection<K extends keyof F ? ValueOf<F[K]> : never, E, DataOf>;
};
type Projected<F> = {
  [K in keyof F & string]: F[K] extends List<Fields> | States<string> ? never : K;
}[keyof F & string];
