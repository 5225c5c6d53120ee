import type { Position } from '#shared/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { EventLog } from './event-log.ts';

const ASK_AGAIN_MS = 200;

/**
 * Repeats a question until the answer is accepted or the time is over: a server that lags may know the answer
 * soon.
 */
export const askAgain = async <Answer>(
  ask: () => Promise<Answer>,
  { lateMs, clock = REAL_TIME }: { readonly lateMs: number; readonly clock?: Clock },
  isEnough: (answer: Answer) => boolean,
): Promise<Answer> => {
  let answer = await ask();
  for (const untilMs = clock.elapsedMs() + lateMs; !isEnough(answer) && clock.elapsedMs() < untilMs; ) {
    await clock.sleep(ASK_AGAIN_MS);
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
    { lateMs: eventLog.lateMs ?? 0 },
    (head) => head >= position,
  );
