import type { IncomingHttpHeaders } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { FieldFate } from './resolvers/commits.ts';
import type { Runnable } from './run.ts';

/** What the fields of one request share, beside the operation itself. */
export type RequestFacts = {
  readonly requestId: string;
  /** The `traceparent` of it. */
  readonly trace?: string | undefined;
  /** Of a mutation; each of its root fields has a key of its own under it. */
  readonly idempotencyKey: string | undefined;
  /** Takes more of what the client may ask for; refuses where that is too much. */
  readonly charge: (units: number) => Promise<void>;
  /** As the client sent them. */
  readonly headers: IncomingHttpHeaders;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
};

/** Runs an operation field by field; what it answers is the reference for every faster way. */
export type Execute = (
  runnable: Runnable,
  facts: RequestFacts,
  /** Of a subscription: what has happened. */
  event?: unknown,
) => Promise<Executed>;

export type Executed = Pick<ExecutionResult, 'data' | 'errors'> & {
  /** Of a mutation: what became of the fields that ran. */
  readonly fates: readonly FieldFate[];
};
