import type { Position } from '#shared/brands.ts';
import { parseOwnCursor, UnknownCursor } from '#shared/cursor.ts';
import { headReaching } from '#shared/event-log/ask-again.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';

/**
 * The position of a client’s cursor. It refuses a cursor of another log or beyond the end. `known` is a
 * position that the log is known to have.
 */
export const positionOfCursor = async (
  text: string,
  {
    eventLog,
    known,
    parameter,
    excludes = false,
  }: {
    readonly eventLog: Pick<EventLog, 'identity' | 'lost' | 'head' | 'late'>;
    readonly known: Position;
    readonly parameter: string;
    /** Only events before it are wanted, so that it may be that of the next event. */
    readonly excludes?: boolean;
  },
): Promise<Position> => {
  const position = parse(text, eventLog, parameter);
  const last = excludes ? ((position - 1) as Position) : position;
  if (last > known && last > (await headReaching(eventLog, last)))
    throw new HttpProblem('unknown_cursor', {
      detail: `${parameter}: this cursor is beyond the end of the log. ${ADVICE}`,
    });
  return position;
};

const ADVICE = 'Send a cursor that came with an event, or none.';

const parse = (text: string, eventLog: Pick<EventLog, 'identity' | 'lost'>, parameter: string): Position => {
  try {
    return parseOwnCursor(eventLog, text);
  } catch (cause) {
    if (!(cause instanceof UnknownCursor)) throw cause;
    throw new HttpProblem(cause.code, { detail: `${parameter}: ${cause.message}. ${ADVICE}`, cause });
  }
};
