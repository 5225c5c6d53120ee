import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { FastPath } from '#edge/http/fast-path.ts';
import type { Link } from '#edge/http/root-page.ts';
import type { QueryResources } from './resources.ts';

/** A part of the query role, beside its reads over REST. */
export type QueryPart = {
  /** Its links at `GET /`. */
  readonly links: readonly Link[];
  /** Opens it with what the role has opened. It closes before that. */
  open(resources: QueryResources): OpenedPart | Promise<OpenedPart>;
};

export type OpenedPart = Partial<AsyncDisposable> & {
  readonly routes: RequestHandler;
  /** Comes after all routes, also those of other roles. */
  readonly refusals?: ErrorRequestHandler;
  /** Of its most frequent request. */
  readonly fastPath?: FastPath;
};

declare module '#process/part.ts' {
  interface Additions {
    readonly query: QueryPart;
  }
}
