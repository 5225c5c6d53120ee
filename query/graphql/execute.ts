import type { IncomingHttpHeaders } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Runnable } from './documents/run.ts';
import type { FieldFate } from './resolvers/commits.ts';
import type { Note } from './resolvers/notes.ts';

/** The facts of a request, beside its operation. */
export type RequestFacts = {
  readonly requestId: string;
  /** The `traceparent` of the request. */
  readonly trace?: string | undefined;
  /** The key of a mutation; each root field derives its own from it. */
  readonly idempotencyKey: string | undefined;
  /** Charges further units to the client’s rate limit; throws if they exceed it. */
  readonly charge: (units: number) => Promise<void>;
  /** As the client sent them. */
  readonly headers: IncomingHttpHeaders;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
};

/** Executes an operation field by field. Every faster path must return the same result. */
export type Execute = (
  runnable: Runnable,
  facts: RequestFacts,
  /** The event of a subscription. */
  event?: unknown,
) => Promise<Executed>;

export type Executed = Pick<ExecutionResult, 'data' | 'errors'> & {
  /** For a mutation: the fate of each field that ran. */
  readonly fates: readonly FieldFate[];
  readonly notes: readonly Note[];
};
