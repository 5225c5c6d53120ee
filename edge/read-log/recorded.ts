import type { IncomingMessage } from 'node:http';
import type { ReadBy } from '#shared/read-log/entry.ts';
import { type Noting, noting } from '#shared/read-log/noted.ts';
import { requestFact } from '../http/request-fact.ts';

/** The operation of a request, as the log of reads names it. */
export type Recorded = Pick<ReadBy, 'operation' | 'query' | 'via'>;

export type Recording = {
  readonly notes: Noting;
  as: Recorded | undefined;
  /** Each message of a stream is recorded by itself, before it is sent. */
  isStream: boolean;
  /** Records what was noted; a promise must be fulfilled before it may be shown. */
  readonly write: () => Promise<void> | undefined;
};

/** Requests whose answers may show aggregates of which reads are logged. */
export const recordings = requestFact<Recording>('recording');

/**
 * Work for a request whose reads are recorded. The context of a request ends with its body, so handlers after a
 * body need it, too.
 */
export const recorded = <Result>(request: IncomingMessage, work: () => Result): Result => {
  const recording = recordings.of(request);
  return recording === undefined ? work() : noting(recording.notes, work);
};

/** Names the operation of a request for the log of reads. */
export const nameRecorded = (request: IncomingMessage, as: Recorded): void => {
  const recording = recordings.of(request);
  if (recording !== undefined) recording.as = as;
};

export const recordedAs = <Result>(request: IncomingMessage, as: Recorded, work: () => Result): Result => {
  nameRecorded(request, as);
  return recorded(request, work);
};

/** The response becomes a stream, and is not held back. */
export const recordMessages = (request: IncomingMessage): void => {
  const recording = recordings.of(request);
  if (recording !== undefined) recording.isStream = true;
};

/** Records now what the request has noted, for answers that leave in another way than as a response. */
export const recordNow = (request: IncomingMessage): Promise<void> | undefined =>
  recordings.of(request)?.write();
