import type { EventId, UserId, WebhookId } from '#kernel/base/brands.ts';
import type { WebhookFormat } from '#kernel/webhook/webhook-fields.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Caller } from '#shared/policy.ts';

/**
 * Makes one attempt: composes the permitted body, signs it, posts it and returns the result. It writes
 * nothing, and throws only for our own faults (the database or the log is unavailable): any behaviour of the
 * receiver is a result. If a result cannot be recorded, the same attempt is repeated.
 */
export type Sender = {
  send(outgoing: Outgoing, signal: AbortSignal): Promise<AttemptResult>;
};

/** A delivery with everything that an attempt needs. */
export type Outgoing = {
  readonly delivery: Delivery;
  readonly endpoint: Endpoint;
  readonly owner: Owner;
  /** The `traceparent` header. */
  readonly trace?: string | undefined;
  /**
   * Stores the shape of a first attempt before it is sent, so that a repetition after a crash has the same
   * shape.
   */
  settle?(shape: Shape): Promise<void>;
};

/** One change for one endpoint; the id of the event is that of the delivery, and the `webhook-id`. */
export type Delivery = {
  readonly webhookId: WebhookId;
  readonly eventId: EventId;
  readonly change: Change;
  /** The number of earlier attempts in the present schedule: a redelivery starts a new schedule. */
  readonly attempts: number;
  /**
   * The shape that the first attempt fixed, or the plan; null if it depends on what the owner may read at the
   * first attempt.
   */
  readonly shape: Shape | null;
};

/** `full` has all data, `public` the public part of a profile, as in the owner’s feed, and `ids` only ids. */
export type Shape = 'full' | 'public' | 'ids';

/** The data of an endpoint that an attempt needs. Personal, and kept in memory only. */
export type Endpoint = {
  readonly webhookId: WebhookId;
  readonly ownerId: UserId;
  /** The scopes of the user who decided the destination and selection: nothing beyond them is delivered. */
  readonly scopes: ReadonlySet<string>;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The present secret first, then former ones, which sign too until they expire. */
  readonly secrets: readonly Secret[];
  readonly payload: 'thin' | 'full';
  readonly format: WebhookFormat;
};

export type Secret = {
  /** `whsec_…` */
  readonly secret: string;
  /** In milliseconds since the epoch; null if it does not expire. */
  readonly endsAtMs: number | null;
};

/** The owner at present, with the rights of the webhook to read. */
export type Owner = Extract<Caller, { readonly kind: 'user' }>;

export type AttemptResult = {
  /** Null if nothing was sent, because the owner may no longer read it, or nobody can read it now. */
  readonly attempt: Attempt | null;
  readonly shape: Shape | null;
  readonly outcome: Outcome;
  readonly health: EndpointHealth;
};

/**
 * The request and the response as shown to people: signatures shortened, values of the owner’s headers
 * hidden.
 */
export type Attempt = {
  readonly durationMs: number;
  /** Null if no response came. */
  readonly status: number | null;
  /** A readable reason for the failure. */
  readonly error: string | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** The start of the response: the part that is shown, plus one byte if there was more. */
  readonly responseBody: Uint8Array | null;
};

/** The new state of the delivery. */
export type Outcome =
  | { readonly state: 'delivered' }
  /** To be retried after this time. */
  | { readonly state: 'due'; readonly retryInMs: number }
  /** The schedule is exhausted. */
  | { readonly state: 'dead' }
  | { readonly state: 'withheld' };

/** The state of the endpoint that the attempt shows; `unknown` if nothing was sent. */
export type EndpointHealth =
  | { readonly kind: 'well' | 'failing' | 'unknown' }
  /** The endpoint asks for less load: nothing is sent for this time, and afterwards more slowly. */
  | { readonly kind: 'busy'; readonly pauseMs: number }
  /** The endpoint asks to be removed. */
  | { readonly kind: 'gone' };

/** The circuit breaker of one endpoint; `breaker.ts` updates it after each attempt. */
export type Breaker = {
  /** Recent attempts. */
  readonly recent: readonly { readonly atMs: number; readonly isFailure: boolean }[];
  /** How often in a row it opened without a success; each time it stays open longer. */
  readonly openings: number;
  readonly openUntilMs: number | null;
};
