import type { LogIdentity, Position } from '#shared/brands.ts';
import type { ReplayWebhook } from '#shared/commands/webhook.ts';
import { parseCursor, UnknownCursor } from '#shared/cursor.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Replay } from './missed.ts';

/** What a replay is to cover, in terms of the log: positions, or a time in UTC. */
export const spanOf = (identity: LogIdentity, { from, to }: Pick<ReplayWebhook, 'from' | 'to'>): Pick<Replay, 'from' | 'to'> => ({
  from: from?.includes(':') ? new Date(from).toISOString() : positionOf(identity, '/from', from),
  to: positionOf(identity, '/to', to),
});

const positionOf = (identity: LogIdentity, pointer: string, cursor: string | undefined): Position | undefined => {
  try {
    return cursor === undefined ? undefined : parseCursor(identity, cursor);
  } catch (error) {
    if (!(error instanceof UnknownCursor)) throw error;
    throw new Rejection('invalid_command', { errors: [{ pointer, detail: 'Must be a cursor of this log.' }] }, { cause: error });
  }
};
