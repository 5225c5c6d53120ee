import type { EventLog } from '#shared/event-log/event-log.ts';
import { timeOfId } from '#shared/id-time.ts';
import type { Caller } from '#shared/policy.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';
import { Rejection } from '#shared/rejection.ts';

/**
 * Reads by id. Whoever has just created an item may ask for it, at any process and without its
 * Consistency-Token, before the read model has it. So a signed-in caller who asks for an id that was made
 * seconds ago is not told that there is none before the read model has caught up with the log. The id itself
 * says when it was made, so that no process keeps anything, and other reads cost nothing more.
 */
export type ReadJustMade = <Answer>(asked: Asked, read: () => Promise<Answer>) => Promise<Answer>;

type Asked = { readonly caller: Caller; readonly id: string };

type Options = {
  readonly readPosition: Pick<ReadPosition, 'reaches'>;
  readonly eventLog: Pick<EventLog, 'head'>;
  readonly waitMaxMs: number;
};

export const createReadJustMade =
  ({ readPosition, eventLog, waitMaxMs }: Options): ReadJustMade =>
  async (asked, read) => {
    try {
      return await read();
    } catch (error) {
      if (!isAbsent(error) || !mayBeJustMade(asked)) throw error;
      // Where the log does not answer, nothing is known beyond the read model.
      const head = await eventLog.head().catch(() => undefined);
      if (head === undefined || !(await readPosition.reaches(head, waitMaxMs))) throw error;
      return await read();
    }
  };

const isAbsent = (error: unknown): boolean => error instanceof Rejection && error.code.endsWith('_not_found');

const RECENT_MS = 10_000;

/** Clocks may differ by as much either way. */
const mayBeJustMade = ({ caller, id }: Asked): boolean =>
  caller.kind === 'user' && Math.abs(Date.now() - timeOfId(Number(id))) < RECENT_MS;
