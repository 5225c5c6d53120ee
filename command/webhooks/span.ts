import type { Position } from '#kernel/base/brands.ts';
import { UnknownCursor } from '#kernel/base/cursor.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { ReplayWebhook } from '#shared/commands/webhook.ts';
import { type OwnLog, positionOfOwnCursor } from '#shared/event-log/own-cursor.ts';
import type { Replay } from './missed.ts';

/** The span of a replay in the log: positions, or a time in UTC. */
export const spanOf = async (
  log: OwnLog,
  { from, to }: Pick<ReplayWebhook, 'from' | 'to'>,
): Promise<Pick<Replay, 'from' | 'to'>> => ({
  from: from?.includes(':') ? new Date(from).toISOString() : await positionOf(log, '/from', from),
  to: await positionOf(log, '/to', to),
});

const positionOf = async (
  log: OwnLog,
  pointer: string,
  cursor: string | undefined,
): Promise<Position | undefined> => {
  try {
    return cursor === undefined ? undefined : await positionOfOwnCursor(log, cursor);
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
