import type { Fields } from './fields.ts';

/** A custom read over the tables of the read model, for what lists cannot express, such as a summary. */
type RouteSpec<Q extends Fields, A extends Fields, Path extends string = string> = {
  /** The path, as `/course-summary`: one segment that nothing else uses. */
  readonly path: Path;
  /** A description in a few words. */
  readonly says: string;
  /**
   * The required right, as `course.read`, with its scope. The right must be unconditional, because no
   * condition restricts the statement.
   */
  readonly right: string;
  /** The query parameters. */
  readonly takes?: Q;
  /** The fields of each item in the response. */
  readonly gives: A;
  /**
   * A statement that selects these fields by name, with placeholders for the parameters and the id of the
   * caller. The first 1,000 rows are returned.
   */
  readonly sql: (given: { readonly [K in (keyof Q & string) | 'callerId']: string }) => string;
};
export type AnyRoute = {
  readonly name: string;
  readonly spec: Omit<RouteSpec<Fields, Fields>, 'sql'> & { readonly sql: (given: never) => string };
};

declare const ASKED: unique symbol;
/** The parameters and fields, carried by its type alone: clients are typed by them. */
export interface Route<Path extends string, Q, A> {
  readonly name: string;
  readonly spec: AnyRoute['spec'] & { readonly path: Path };
  readonly [ASKED]?: { readonly takes: Q; readonly gives: A };
}

/** `route('courseSummary', { path: '/course-summary', … })`; the name is that of its operation. @internal */
export const route = <A extends Fields, const Path extends string, Q extends Fields = Record<never, never>>(
  name: string,
  spec: RouteSpec<Q, A, Path>,
): Route<Path, Q, A> => ({ name, spec });
