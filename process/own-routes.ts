import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpProblemCode } from '#kernel/base/rest/http-problem.ts';

/** A signed-in caller: the token was checked, and the account is active. */
type RouteCaller = {
  readonly id: number;
  readonly role: string;
  /** The scopes of the token, such as `read:tickets`. */
  readonly scopes: ReadonlySet<string>;
};

/** Given to routes of one’s own. */
type RouteTools = {
  /** The caller; undefined if anonymous. */
  callerOf(request: IncomingMessage): RouteCaller | undefined;
  /**
   * The rows of one statement on the read model, such as `read_model.tickets`, with values for `$1` and so on.
   * It cannot write, and ends after five seconds. No right of the caller narrows it.
   */
  query(
    statement: string,
    values?: readonly unknown[],
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** An error to throw, answered as a problem with this code. */
  refusal(code: RouteRefusal, detail?: string): Error;
};
type RouteRefusal = 'unauthenticated' | 'forbidden' | Extract<HttpProblemCode, OfRoutes>;
type OfRoutes = 'not_found' | 'invalid_parameter' | 'invalid_request' | 'unavailable';

/** As a method, so that a router of Express is one, and the package needs no types of Express. */
type Handler = {
  handle(request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): unknown;
}['handle'];

/** Routes of an installation’s own, beside those of Annals: a router of Express. */
export type OwnRoutes = (tools: RouteTools) => Handler;
