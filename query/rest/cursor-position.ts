import type { Request } from 'express';
import type { Position } from '#kernel/base/brands.ts';
import { type CursorPoint, parseOwnPoint, UnknownCursor } from '#kernel/base/cursor.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { headReaching } from '#shared/event-log/ask-again.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { demandEventOf, type OwnLog } from '#shared/event-log/own-cursor.ts';

/**
 * The cursor after which a stream begins, and its parameter. A client that reconnects repeats its first request, and
 * sends its last position in the header `Last-Event-ID`.
 */
export const firstCursorOf = (
  request: Pick<Request, 'get'>,
  after: string | undefined,
): { readonly text: string | undefined; readonly parameter: string } => {
  const last = request.get('Last-Event-ID') || undefined;
  return last === undefined
    ? { text: after, parameter: 'after' }
    : { text: last, parameter: 'Last-Event-ID' };
};

/**
 * The position of a client’s cursor. It refuses a cursor of another log, of an event that the log does not
 * have, or beyond the end. `known` is a position that the log is known to have.
 */
export const positionOfCursor = async (
  text: string,
  {
    eventLog,
    known,
    parameter,
    excludes = false,
  }: {
    readonly eventLog: OwnLog & Pick<EventLog, 'head'>;
    readonly known: Position;
    readonly parameter: string;
    /** Only events before it are wanted, so that it may be that of the next event. */
    readonly excludes?: boolean;
  },
): Promise<Position> => {
  const point = parse(text, eventLog, parameter);
  const { position } = point;
  if (!point.isOf(undefined)) {
    await demandEventOf(eventLog, point).catch(refuseFor(parameter));
    return position;
  }
  const last = excludes ? ((position - 1) as Position) : position;
  if (last > known && last > (await headReaching(eventLog, last)))
    throw new HttpProblem('unknown_cursor', {
      detail: `${parameter}: this cursor is beyond the end of the log. ${ADVICE}`,
    });
  return position;
};

const ADVICE = 'Send a cursor that came with an event, or none.';

const parse = (
  text: string,
  eventLog: Pick<EventLog, 'identity' | 'lost'>,
  parameter: string,
): CursorPoint => {
  try {
    return parseOwnPoint(eventLog, text);
  } catch (error) {
    return refuseFor(parameter)(error);
  }
};

const refuseFor =
  (parameter: string) =>
  (cause: unknown): never => {
    if (!(cause instanceof UnknownCursor)) throw cause;
    throw new HttpProblem(cause.code, { detail: `${parameter}: ${cause.message}. ${ADVICE}`, cause });
  };
