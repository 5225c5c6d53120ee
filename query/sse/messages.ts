import type { Problem } from '#shared/http/problem.ts';
import type { Farewell } from './event-stream.ts';

/**
 * One message as bytes (HTML Living Standard, section 9.2). The data is a text without line breaks, as JSON
 * is when it is not made pretty; the id is where the client may go on.
 */
export const eventMessage = ({
  event,
  id,
  data,
}: {
  readonly event?: string;
  readonly id?: string;
  readonly data: string;
}): Buffer =>
  Buffer.from(
    `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`,
  );

/** Moves the client on without telling it anything: an id alone is remembered and is no event. */
export const idMessage = (id: string): Buffer => Buffer.from(`id: ${id}\n\n`);

/**
 * For plain readers: `event: problem` with the problem (RFC 9457), or, where the server stops, when to come
 * again. That is not the same time for all, because whoever takes over must not be asked by all at once.
 */
export const plainFarewell: Farewell = (problem: Problem | undefined) =>
  problem === undefined
    ? Buffer.from(`retry: ${RECONNECT_MIN_MS + Math.floor(Math.random() * RECONNECT_SPREAD_MS)}\n\n`)
    : eventMessage({ event: 'problem', data: JSON.stringify(problem.body) });

const RECONNECT_MIN_MS = 500;
const RECONNECT_SPREAD_MS = 2_500;
