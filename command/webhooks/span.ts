import type { Position } from '#shared/brands.ts';
import type { ReplayWebhook } from '#shared/commands/webhook.ts';
import { parseOwnCursor, UnknownCursor } from '#shared/cursor.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Replay } from './missed.ts';

type Log = Pick<EventLog, 'identity' | 'lost'>;

/** The span of a replay in the log: positions, or a time in UTC. */
export const spanOf = (
  log: Log,
  { from, to }: Pick<ReplayWebhook, 'from' | 'to'>,
): Pick<Replay, 'from' | 'to'> => ({
  from: from?.includes(':') ? new Date(from).toISOString() : positionOf(log, '/from', from),
  to: positionOf(log, '/to', to),
});

const positionOf = (log: Log, pointer: string, cursor: string | undefined): Position | undefined => {
  try {
    return cursor === undefined ? undefined : parseOwnCursor(log, cursor);
  } catch (error) {
    if (!(error instanceof UnknownCursor)) throw error;
    if (error.code === 'cursor_of_lost_history')
      throw new Rejection(error.code, { pointer }, { cause: error });
    throw new Rejection(
      'invalid_command',
      { errors: [{ pointer, detail: 'Must be a cursor of this log.' }] },
      { cause: error },
    );
  }
};
