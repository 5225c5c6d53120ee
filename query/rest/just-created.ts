import { Rejection } from '#kernel/base/rejection.ts';
import { type Clock, dateElsewhereMs } from '#shared/clock/clock.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { timeOfId } from '#shared/id-time.ts';
import type { Caller } from '#shared/policy.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';

/**
 * Reads by id. A caller may ask for an item it has just created, at any process and without its
 * Consistency-Token, before the read model has it. If a signed-in caller asks for an id that is seconds old,
 * the answer 404 waits until the read model has caught up with the log. The id contains the time when it was
 * made, so no process keeps state, and other reads cost nothing more.
 */
export type ReadJustCreated = <Answer>(asked: Asked, read: () => Promise<Answer>) => Promise<Answer>;

type Asked = { readonly caller: Caller; readonly id: string };

type Options = {
  readonly readPosition: Pick<ReadPosition, 'reaches'>;
  readonly eventLog: Pick<EventLog, 'head'>;
  readonly waitMaxMs: number;
  readonly clock: Clock;
};

export const createReadJustCreated =
  ({ readPosition, eventLog, waitMaxMs, clock }: Options): ReadJustCreated =>
  async (asked, read) => {
    try {
      return await read();
    } catch (error) {
      if (!isAbsent(error) || !mayBeJustCreated(asked, clock)) throw error;
      // If the log is unavailable, nothing is known beyond the read model.
      const head = await eventLog.head().catch(() => undefined);
      if (head === undefined || !(await readPosition.reaches(head, waitMaxMs))) throw error;
      return await read();
    }
  };

const isAbsent = (error: unknown): boolean => error instanceof Rejection && error.code.endsWith('_not_found');

const RECENT_MS = 10_000;

/** Allows for a clock difference of as much in either direction. */
const mayBeJustCreated = ({ caller, id }: Asked, clock: Clock): boolean =>
  caller.kind === 'user' && Math.abs(dateElsewhereMs(clock) - timeOfId(Number(id))) < RECENT_MS;
