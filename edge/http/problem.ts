import type { Json } from '#kernel/base/json.ts';
import {
  isAbsence,
  type REJECTIONS,
  Rejection,
  type RejectionCode,
  sentenceOf,
} from '#kernel/base/rejection.ts';
import { HTTP_PROBLEMS, HttpProblem, type HttpProblemCode } from '#kernel/base/rest/http-problem.ts';
import { BlobsUnavailable } from '#shared/blobs/blobs.ts';
import { CommandUnavailable } from '#shared/command-gateway/command-gateway.ts';
import { isPassing } from '#shared/database/failures.ts';
import {
  AppendTooLarge,
  LogUnavailable,
  LogWentBack,
  StreamCut,
  TooManyEvents,
} from '#shared/event-log/errors.ts';
import { MalformedEvent, UnknownEventType } from '#shared/events/errors.ts';
import { parked } from './parked.ts';

/** The meaning of an error to a client (RFC 9457), and the headers that go with it. */
export type Problem = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly type: string;
    readonly title: string;
    readonly status: number;
    /** Stable; programs compare it. */
    readonly code: string;
    readonly detail?: string;
    readonly [extension: string]: Json | undefined;
  };
};

/**
 * The status of every refusal of the domain; a deleted aggregate is absent from reads, so it is not found.
 */
const REJECTION_STATUS = {
  user_not_found: 404,
  not_erased: 404,
  user_deleted: 404,
  email_taken: 409,
  email_changed_by_application: 403,
  last_administrator: 409,
  webhook_not_found: 404,
  webhook_deleted: 404,
  webhook_disabled: 409,
  quota_exceeded: 409,
  too_many_secrets: 409,
  too_many_replays: 409,
  event_not_found: 404,
  delivery_not_found: 404,
  replay_not_found: 404,
  not_parked: 404,
  parked_at_other_version: 409,
  order_not_found: 404,
  too_many_orders: 409,
  verification_under_way: 409,
  client_not_found: 404,
  client_built_in: 409,
  client_without_secret: 409,
  client_id_taken: 409,
  token_not_found: 404,
  too_many_tokens: 409,
  sign_in_too_old: 401,
  address_not_confirmed: 403,
  account_of_administrator: 409,
  id_taken: 409,
  version_mismatch: 412,
  patch_not_applicable: 422,
  patch_test_failed: 409,
  reason_required: 422,
  conflict: 409,
  idempotency_key_reused: 422,
  idempotency_key_in_use: 409,
  unauthenticated: 401,
  insufficient_scope: 403,
  forbidden: 403,
  cursor_of_lost_history: 400,
  invalid_command: 422,
  confirmation_required: 202,
  person_required: 403,
  signature_required: 403,
  signature_invalid: 403,
  signer_required: 403,
  person_releases: 403,
  asker_not_allowed: 409,
  request_outdated: 409,
} as const satisfies Record<keyof typeof REJECTIONS, number>;

/** Unlisted refusals of a domain are 404 if something is absent, otherwise conflicts with a state. */
export const statusOf = (code: RejectionCode): number => {
  const listed: Partial<Record<RejectionCode, number>> = REJECTION_STATUS;
  return listed[code] ?? (isAbsence(code) ? 404 : 409);
};

export type ProblemCode = RejectionCode | HttpProblemCode;

/** The meaning of a code, for the description of the interface. */
export const describeProblem = (code: ProblemCode): { readonly status: number; readonly title: string } => {
  if (isHttpProblem(code)) return { status: HTTP_PROBLEMS[code][0], title: HTTP_PROBLEMS[code][1] };
  return { status: statusOf(code), title: sentenceOf(code) };
};

const isHttpProblem = (code: ProblemCode): code is HttpProblemCode => Object.hasOwn(HTTP_PROBLEMS, code);

const RETRY_AFTER_SECONDS = '1';

/** Every error has a response; an unexpected one is masked, and its caller logs it. */
export const problemOf = (error: unknown): Problem => {
  if (error instanceof Rejection) return ofRejection(error);
  if (error instanceof HttpProblem) return ofHttpProblem(error);
  // The server of the log may have a lower limit than ours.
  if (error instanceof AppendTooLarge)
    return ofHttpProblem(
      new HttpProblem('body_too_large', { detail: 'The event log does not accept an event of this size.' }),
    );
  if (error instanceof TooManyEvents) return ofHttpProblem(tooManyEvents(error));
  if (isUnreadable(error)) return ofHttpProblem(parked(error));
  if (isUnavailable(error))
    return ofHttpProblem(new HttpProblem('unavailable', { headers: { 'Retry-After': RETRY_AFTER_SECONDS } }));
  return ofHttpProblem(new HttpProblem(expressCode(error) ?? 'internal'));
};

/** A small body may ask for a large change, such as a merge of two long lists. */
const tooManyEvents = ({ events, eventsMax }: TooManyEvents): HttpProblem =>
  new HttpProblem('body_too_large', {
    detail: `The request would record ${events} events, but at most ${eventsMax} can be recorded at once.`,
  });

/** A recorded event that nobody can read until an operator acts; one that is being written is a defect. */
const isUnreadable = (error: unknown): boolean =>
  error instanceof UnknownEventType ||
  error instanceof StreamCut ||
  (error instanceof MalformedEvent && error.position !== null);

/** An engine does not respond at the moment, or has no spare connection. */
const isUnavailable = (error: unknown): boolean =>
  error instanceof LogUnavailable ||
  error instanceof LogWentBack ||
  error instanceof CommandUnavailable ||
  error instanceof BlobsUnavailable ||
  isPassing(error);

const ofRejection = ({ code, message, details }: Rejection): Problem => {
  const status = statusOf(code);
  const body = {
    type: typeOf(code),
    title: message,
    status,
    code,
    ...(Object.keys(details).length > 0 && { details }),
  };
  return { status, headers: headersOf(code, details), body };
};

const ofHttpProblem = ({ code, message, headers, extensions }: HttpProblem): Problem => {
  const [status, title] = HTTP_PROBLEMS[code];
  return {
    status,
    headers,
    body: {
      type: typeOf(code),
      title,
      status,
      code,
      ...(message !== title && { detail: message }),
      ...extensions,
    },
  };
};

const typeOf = (code: string): string => `urn:annals:problem:${code}`;

/** RFC 9110 demands a challenge with every 401, and RFC 6750 defines how it names a missing scope. */
const headersOf = (code: RejectionCode, { scope, href }: Rejection['details']): Problem['headers'] => {
  if (code === 'confirmation_required' && typeof href === 'string') return { Location: href };
  if (code === 'unauthenticated') return { 'WWW-Authenticate': 'Bearer' };
  if (code === 'insufficient_scope') {
    const named = typeof scope === 'string' && /^[a-z0-9:-]+$/.test(scope) ? `, scope="${scope}"` : '';
    return { 'WWW-Authenticate': `Bearer error="insufficient_scope"${named}` };
  }
  if (code === 'conflict' || code === 'idempotency_key_in_use') return { 'Retry-After': RETRY_AFTER_SECONDS };
  return {};
};

/**
 * Express and its body parser put the status on the error, as `http-errors` does; a status below 500 is the
 * client’s fault.
 */
const expressCode = (error: unknown): HttpProblemCode | undefined => {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  if (error.status === 413) return 'body_too_large';
  if (error.status === 415) return 'unsupported_media_type';
  if (error.status < 400 || error.status >= 500) return undefined;
  return 'type' in error && error.type === 'entity.parse.failed' ? 'malformed_body' : 'malformed_request';
};
