import { Metadata, status } from '@grpc/grpc-js';
import type { NotNow } from './faults.ts';
import type { Excess, Product } from './product.ts';
import type { ExpectedRevision } from './records.ts';

/** The error of a call: a status, and trailers by which the client picks its error class. */
export class Refusal extends Error {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;

  constructor(code: status, details: string, trailers: Readonly<Record<string, string>> = {}) {
    super(details);
    this.code = code;
    this.details = details;
    this.metadata = new Metadata();
    for (const [name, value] of Object.entries(trailers)) this.metadata.set(name, asciiOf(value));
  }
}

/** Trailers are ASCII; a stream name may be anything. */
const asciiOf = (value: string): string => (/^[ -~]*$/.test(value) ? value : encodeURIComponent(value));

export const streamDeleted = (stream: string): Refusal =>
  new Refusal(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });

export const deletionRefused = (stream: string, expected: ExpectedRevision, actual: bigint): Refusal => {
  const wanted = typeof expected === 'bigint' ? expected : EXPECTED_AS_NUMBER[expected];
  return new Refusal(
    status.FAILED_PRECONDITION,
    `Delete failed due to WrongExpectedVersion. Stream: ${stream}, Expected version: ${wanted}, Actual version: ${actual}`,
    {
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': `${wanted}`,
      'actual-version': `${actual}`,
    },
  );
};

const EXPECTED_AS_NUMBER = { no_stream: -1n, any: -2n, stream_exists: -4n } as const;

export const appendTooLarge = (excess: Excess): Refusal => {
  const max = `${excess.bytesMax}`;
  if (excess.of === 'append')
    return new Refusal(status.INVALID_ARGUMENT, `Maximum Append Size of ${max} Exceeded.`, {
      exception: 'maximum-append-size-exceeded',
      'maximum-append-size': max,
    });
  const { id, bytes } = excess;
  const message = `Event with Id: ${id}, Size: ${bytes}, exceeds Maximum Append Event Size of ${max}.`;
  return new Refusal(status.INVALID_ARGUMENT, message, {
    exception: 'maximum-append-event-size-exceeded',
    'maximum-append-event-size': max,
  });
};

export const messageTooLarge = (): Refusal =>
  new Refusal(status.RESOURCE_EXHAUSTED, 'Received message exceeds the maximum configured message size.');

export const badRequest = (message: string): Refusal => new Refusal(status.INVALID_ARGUMENT, message);

export const unreadable = (target: 'stream' | 'all' | 'filtered'): Refusal =>
  new Refusal(status.UNKNOWN, `Unexpected ${UNREADABLE[target]}: Error`);

const UNREADABLE = {
  stream: 'ReadStreamResult',
  all: 'ReadAllResult',
  filtered: 'FilteredReadAllResult',
} as const;

/** A read from a position where no record begins. */
export const noRecordAt = (commit: number, { saysWhy }: Product): Refusal =>
  saysWhy
    ? new Refusal(
        status.UNKNOWN,
        `Unexpected ReadAllResult: InvalidPosition >> Log record at actual pos ${commit} has non-positive length: 0.`,
      )
    : unreadable('all');

export const tooSlow = (at: 'live' | 'transition'): Refusal => {
  const when = at === 'live' ? 'to handle event while live' : 'while transitioning to live';
  return new Refusal(
    status.ABORTED,
    `Operation timed out: Consumer too slow ${when}. Client resubscription required.`,
  );
};

export const accessDenied = (): Refusal =>
  new Refusal(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });

/** Of a wrong password, or an unknown user. */
export const unauthenticated = (): Refusal =>
  new Refusal(status.UNAUTHENTICATED, 'Received HTTP status code 401');

export const deadlineExceeded = (): Refusal => new Refusal(status.DEADLINE_EXCEEDED, 'Operation timed out');

export const unavailable = (): Refusal => new Refusal(status.UNAVAILABLE, 'Connection dropped');

/** The refusal of a node that cannot serve at the moment; with this older method the call fails. */
export const notNow = (says: NotNow): Refusal => new Refusal(status.UNAVAILABLE, says);

/** The client goes there by itself. */
export const notLeader = ({ port }: { readonly port: number }): Refusal =>
  new Refusal(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': '127.0.0.1',
    'leader-endpoint-port': `${port}`,
  });

export const noLeaderInfo = (): Refusal =>
  new Refusal(status.UNKNOWN, 'No leader info available in response');
