import { LogUnavailable } from '#shared/event-log/errors.ts';

/** The meaning of a client’s failure for the request. */
type Failure =
  | 'wrong-version'
  /** Deleted permanently: the server calls it a tombstone. */
  | 'deleted'
  | 'missing'
  | 'too-large'
  /** A retry may succeed. Whether an append was stored is unknown. */
  | 'passing'
  /** A retry would fail in the same way. */
  | 'refused';

/** A failure of our own making that a retry may not meet, such as a response that did not come in time. */
export class PassingFailure extends Error {}

/** A wrong version that the client reports otherwise than by its error. */
export class WrongVersion extends Error {
  readonly type = 'wrong-expected-version';
}

/**
 * By `type` and `code`, not by class: the client’s successor keeps them, and a refused connection has no
 * class of its own.
 */
export const failureOf = (error: unknown): Failure => {
  if (!(error instanceof Error)) return 'refused';
  if (error instanceof PassingFailure) return 'passing';
  switch (typeOf(error)) {
    case 'wrong-expected-version':
      return 'wrong-version';
    case 'stream-deleted':
      return 'deleted';
    case 'stream-not-found':
      return 'missing';
    case 'maximum-append-size-exceeded':
    case 'maximum-append-event-size-exceeded':
    case 'message-too-large':
      return 'too-large';
    case 'not-leader':
    case 'unavailable':
    case 'cancelled':
    case 'deadline-exceeded':
    case 'timeout':
      return 'passing';
    case 'access-denied':
    case 'invalid-argument':
    case 'unsupported':
      return 'refused';
    default:
      return isPassing(error) ? 'passing' : 'refused';
  }
};

/** Whether the client may be unable to recover; it recovers from other passing failures by itself. */
export const mayLeaveStuck = (error: unknown): boolean => {
  if (failureOf(error) !== 'passing' || !(error instanceof Error)) return false;
  // The client keeps a failed search for a node, and would fail every later append with it.
  if (NO_NODE_FOUND.test(error.message)) return true;
  const type = typeOf(error);
  return (type === undefined || type === 'unknown') && STUCK_AFTER_CODES.has(codeOf(error));
};

/**
 * The client’s refusals have empty messages and types of its own; errors that leave the adapter name the
 * request.
 */
export const refusalOf = (error: unknown, what: string): unknown => {
  if (!(error instanceof Error) || typeOf(error) === undefined) return error;
  // The failure ends when an operator corrects the user, the password or the rights.
  if (denialIn(error) !== undefined)
    return new LogUnavailable(`EventStoreDB refused ${what}: ${error.message || typeOf(error)}`, {
      cause: error,
    });
  return new Error(`EventStoreDB refused ${what}: ${error.message || typeOf(error)}`, { cause: error });
};

type Denial = 'of the password' | 'of a right';

/** Whether the server has refused the user, in this error or in one of its causes. */
export const denialIn = (error: unknown): Denial | undefined => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (codeOf(cause) === UNAUTHENTICATED) return 'of the password';
    if (typeOf(cause) === 'access-denied' || codeOf(cause) === PERMISSION_DENIED) return 'of a right';
  }
  return undefined;
};

const CANCELLED = 1;
const UNKNOWN = 2;
const RESOURCE_EXHAUSTED = 8;
const ABORTED = 10;
const INTERNAL = 13;
const UNAVAILABLE = 14;
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

/** A server that shuts down resets its calls, reported as INTERNAL; a client that is closed cancels them. */
const PASSING_CODES: ReadonlySet<unknown> = new Set([
  CANCELLED,
  UNKNOWN,
  RESOURCE_EXHAUSTED,
  ABORTED,
  INTERNAL,
  UNAVAILABLE,
]);

/** After UNAVAILABLE the client reconnects by itself, and CANCELLED was another client’s end. */
const STUCK_AFTER_CODES: ReadonlySet<unknown> = new Set([UNKNOWN, RESOURCE_EXHAUSTED, ABORTED, INTERNAL]);

/**
 * The response to a read from a position where no record begins, or of no events; a retry would get it again.
 */
const WRONGLY_ASKED = /Unexpected (Filtered)?Read(All|Stream)Result/;

/** Whether a read began at a position inside the log where no record begins. */
export const isNoRecord = (error: unknown): boolean =>
  error instanceof Error && WRONGLY_ASKED.test(error.message);

/** The client does not know the details of the response, which are those of a malformed append … */
const UNRECOGNIZED = /^Could not recognize/;
/** … or of a node between two leaders, without the others, or overloaded: a retry may succeed. */
const NOT_NOW = /^Could not recognize (Server Is Not Ready|Server Is Busy|No leader info available)/;
/** Whether a node cannot serve at the moment, whatever it is asked. */
export const isNotNow = (error: unknown): boolean => error instanceof Error && NOT_NOW.test(error.message);

const NO_NODE_FOUND = /^Failed to discover/;

/** Whether a cluster has no leader, by an error or one of its causes. */
export const isLeaderless = (error: unknown): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (isNotNow(cause) || NO_NODE_FOUND.test(cause.message)) return true;
  return false;
};

const isPassing = (error: Error): boolean => {
  if (isNotNow(error)) return true;
  if (WRONGLY_ASKED.test(error.message) || UNRECOGNIZED.test(error.message)) return false;
  if (NO_NODE_FOUND.test(error.message) || PASSING_CODES.has(codeOf(error))) return true;
  return typeOf(error) === 'unknown' && codeOf(error) === undefined;
};

const typeOf = (error: Error): unknown => ('type' in error ? error.type : undefined);
const codeOf = (error: Error): unknown => ('code' in error ? error.code : undefined);
