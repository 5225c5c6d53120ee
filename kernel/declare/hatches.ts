import type { Fields, List, States, ValueOf } from './fields.ts';

/**
 * What data does not say: small pieces of SQL with the same in memory, and values that code makes of an
 * event. Each is pure.
 */

/** What code works with, by the names that GraphQL has for it. */
interface Shown {
  readonly Int: number;
  readonly Boolean: boolean;
  readonly String: string;
}
type Plain<F> = { [K in keyof F & string]: F[K] extends List<Fields> ? never : K }[keyof F & string];
/** The columns of the fields, as SQL names them. */
type Columns<F, D> = { readonly [K in Plain<F> | (keyof D & string)]: string };
type StateOf<F, D> = { readonly [K in Plain<F>]: K extends keyof F ? ValueOf<F[K]> : never } & {
  readonly [K in keyof D & string]: number;
};

type ExpressionOf<F, D, T extends keyof Shown> = {
  /** Its type. It is null where the expression is. */
  readonly type: T;
  /** One sentence for the schema. */
  readonly says?: string;
  /** An expression over columns: `({ minutes }) => minutes + ' / 60'`. */
  readonly sql: (columns: Columns<F, D>) => string;
  /**
   * The same of values, where an answer is made field by field, and of what was. Only the fields whose
   * columns `sql` names are there.
   */
  readonly value: (state: StateOf<F, D>) => Shown[T] | null;
};
/** A field of the type of GraphQL. */
export type Expression<F, D> = { [T in keyof Shown]: ExpressionOf<F, D, T> }[keyof Shown];

type CustomFilterOf<F, D, T extends keyof Shown> = {
  /** The type of what is given: a number, a truth, or a text of at most 200 characters. */
  readonly takes: T;
  /** One sentence for the schema and for `/openapi.json`. */
  readonly says?: string;
  /** A condition on columns and on what is given: `({ seats }, least) => seats + ' >= ' + least`. */
  readonly sql: (columns: Columns<F, D>, given: string) => string;
  /** The same of values, for lists of what was. Only the fields whose columns `sql` names are there. */
  readonly holds: (state: StateOf<F, D>, given: Shown[T]) => boolean;
};
/** By what lists can be narrowed beside the fields that are a `filter()`. */
export type CustomFilter<F, D> = { [T in keyof Shown]: CustomFilterOf<F, D, T> }[keyof Shown];

type Projection<T, E, DataOf> = {
  /**
   * Its value after an event, by the names of events; nothing where it stays as it is. What is personal, or
   * fewer may read, is not there.
   */
  readonly by: { readonly [N in keyof E & keyof DataOf & string]?: (data: DataOf[N]) => T | undefined };
  /** 1 unless given; raise it when the code says something else, and the read model is rebuilt. */
  readonly version?: number;
};
/** Fields whose values no form and no decision says: they follow from an event. */
export type Projections<F, E, DataOf> = {
  readonly [K in Projected<F>]?: Projection<K extends keyof F ? ValueOf<F[K]> : never, E, DataOf>;
};
type Projected<F> = {
  [K in keyof F & string]: F[K] extends List<Fields> | States<string> ? never : K;
}[keyof F & string];
