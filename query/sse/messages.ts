import type { Problem } from '#edge/http/problem.ts';
import type { ClosingMessage } from './event-stream.ts';

/**
 * One message as bytes (HTML Living Standard, section 9.2). The data must have no line breaks, as JSON that
 * is not indented. The client may resume after the id.
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

/** Advances the client’s last event id without an event: a message with an id alone. */
export const idMessage = (id: string): Buffer => Buffer.from(`id: ${id}\n\n`);

/**
 * The closing message for plain subscribers: `event: problem` with the problem (RFC 9457) or, if the server
 * stops, when to reconnect. That delay is random, so that not all clients reconnect at once.
 */
export const plainClosingMessage: ClosingMessage = (problem: Problem | undefined) =>
  problem === undefined
    ? Buffer.from(`retry: ${RECONNECT_MIN_MS + Math.floor(Math.random() * RECONNECT_SPREAD_MS)}\n\n`)
    : eventMessage({ event: 'problem', data: JSON.stringify(problem.body) });

const RECONNECT_MIN_MS = 500;
const RECONNECT_SPREAD_MS = 2_500;
