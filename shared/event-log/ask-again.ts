import { setTimeout as delay } from 'node:timers/promises';
import type { Position } from '#shared/brands.ts';
import type { EventLog } from './event-log.ts';

const ASK_AGAIN_MS = 200;

/**
 * Repeats a question until the answer is accepted or the time is over: a server that lags may know the answer
 * soon.
 */
export const askAgain = async <Answer>(
  ask: () => Promise<Answer>,
  lateMs: number,
  isEnough: (answer: Answer) => boolean,
): Promise<Answer> => {
  let answer = await ask();
  for (const untilMs = performance.now() + lateMs; !isEnough(answer) && performance.now() < untilMs; ) {
    await delay(ASK_AGAIN_MS);
    answer = await ask();
  }
  return answer;
};

/** The head; for callers that would otherwise report a position beyond it as wrong. */
export const headReaching = (
  eventLog: Pick<EventLog, 'head' | 'lateMs'>,
  position: Position,
): Promise<Position> =>
  askAgain(
    () => eventLog.head(),
    eventLog.lateMs ?? 0,
    (head) => head >= position,
  );
