import type { Fields } from './fields.ts';

/** A read of one’s own over the tables of the read model, for what no list says, such as a summary. */
type RouteSpec<Q extends Fields, A extends Fields, Path extends string = string> = {
  /** Where it is, as `/course-summary`: one step, that of nothing else. */
  readonly path: Path;
  /** What it gives, in a few words. */
  readonly says: string;
  /**
   * The right that it takes, as `course.read`: with its scope, and over everything, because no right narrows
   * the statement.
   */
  readonly right: string;
  /** The parameters of its query. */
  readonly takes?: Q;
  /** What each item of its answer has. */
  readonly gives: A;
  /**
   * A statement that selects these by their names; what is given, and the id of the caller, is named in it.
   * The first 1,000 rows are returned.
   */
  readonly sql: (given: { readonly [K in (keyof Q & string) | 'callerId']: string }) => string;
};
export type AnyRoute = {
  readonly name: string;
  readonly spec: Omit<RouteSpec<Fields, Fields>, 'sql'> & { readonly sql: (given: never) => string };
};

declare const ASKED: unique symbol;
/** What it takes and gives, carried by its type alone: clients are typed by it. */
export interface Route<Path extends string, Q, A> {
  readonly name: string;
  readonly spec: AnyRoute['spec'] & { readonly path: Path };
  readonly [ASKED]?: { readonly takes: Q; readonly gives: A };
}

/** `route('courseSummary', { path: '/course-summary', … })`; its name is that of its operation. @internal */
export const route = <A extends Fields, const Path extends string, Q extends Fields = Record<never, never>>(
  name: string,
  spec: RouteSpec<Q, A, Path>,
): Route<Path, Q, A> => ({ name, spec });
