import type { EventId, UserId, WebhookId } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Caller } from '#shared/policy.ts';

/**
 * Makes one attempt: finds out what may be told now, signs it, posts it, and says what comes of that. It
 * writes nothing, and fails only where we are at fault ourselves (the database or the log is away): whatever
 * the receiver does is a result. A result that could not be recorded is followed by the same attempt again.
 */
export type Sender = {
  send(outgoing: Outgoing, signal: AbortSignal): Promise<AttemptResult>;
};

/** A delivery with all that it takes to make an attempt at it. */
export type Outgoing = {
  readonly delivery: Delivery;
  readonly endpoint: Endpoint;
  readonly owner: Owner;
  /** The `traceparent` that goes with it. */
  readonly trace?: string | undefined;
  /**
   * Keeps how much a first attempt tells, before it is sent: who repeats it without knowing of it tells the
   * same.
   */
  settle?(shape: Shape): Promise<void>;
};

/** One change for one endpoint; the id of the event is the id of the delivery, and the `webhook-id`. */
export type Delivery = {
  readonly webhookId: WebhookId;
  readonly eventId: EventId;
  readonly change: Change;
  /**
   * How many attempts there were before this one, since it was last made due: who sends it again begins the
   * schedule anew.
   */
  readonly attempts: number;
  /**
   * What the first attempt made it, or what was planned; nothing where there was none, and it depends on what
   * the owner may read.
   */
  readonly shape: Shape | null;
};

/**
 * `full` has all the data, `public` what of a profile is everybody's, as the feed shows it to the owner;
 * `ids` only the ids in it.
 */
export type Shape = 'full' | 'public' | 'ids';

/** What an attempt needs to know of an endpoint. It is personal, and kept in memory alone. */
export type Endpoint = {
  readonly webhookId: WebhookId;
  readonly ownerId: UserId;
  /** Of whoever decided where it is sent to and what: more than they could read is not told. */
  readonly scopes: ReadonlySet<string>;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The present one first, then former ones, which sign beside it until they end. */
  readonly secrets: readonly Secret[];
  readonly payload: 'thin' | 'full';
};

export type Secret = {
  /** `whsec_…` */
  readonly secret: string;
  /** In milliseconds since the epoch; nothing where it does not end. */
  readonly endsAtMs: number | null;
};

/** The owner as they are now, with the rights to read that the webhook has. */
export type Owner = Extract<Caller, { readonly kind: 'user' }>;

export type AttemptResult = {
  /** Nothing where nothing was sent, because the owner may no longer read it, or nobody can read it now. */
  readonly attempt: Attempt | null;
  readonly shape: Shape | null;
  readonly outcome: Outcome;
  readonly health: EndpointHealth;
};

/**
 * What was sent and what came back, as people are shown it: signatures shortened, values of the owner's
 * headers hidden.
 */
export type Attempt = {
  readonly durationMs: number;
  /** Nothing where no answer came. */
  readonly status: number | null;
  /** In words, where it failed. */
  readonly error: string | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** The first bytes of the answer: what is shown of it, and one more where there was more. */
  readonly responseBody: Uint8Array | null;
};

/** What becomes of the delivery. */
export type Outcome =
  | { readonly state: 'delivered' }
  /** It is tried again, in so many milliseconds. */
  | { readonly state: 'due'; readonly retryInMs: number }
  /** The schedule is over. */
  | { readonly state: 'dead' }
  | { readonly state: 'withheld' };

/** What the attempt tells of the endpoint; `unknown` where nothing was sent. */
export type EndpointHealth =
  | { readonly kind: 'well' | 'failing' | 'unknown' }
  /** It asks for less: nothing is sent to it for so long, and slower then. */
  | { readonly kind: 'busy'; readonly pauseMs: number }
  /** It asks for nothing any more. */
  | { readonly kind: 'gone' };

/**
 * Of one endpoint, as `breaker.ts` moves it on after each attempt: `afterAttempt(breaker, { isFailure, atMs
 * }): Breaker`, `admits(breaker, atMs): 'all' | 'one' | 'none'`, `restored({ openings, openUntilMs }):
 * Breaker`.
 */
export type Breaker = {
  /** Attempts of late. */
  readonly recent: readonly { readonly atMs: number; readonly isFailure: boolean }[];
  /** How often in a row it opened without a success since; each time it stays open for longer. */
  readonly openings: number;
  readonly openUntilMs: number | null;
};
