import type { Position } from '#kernel/base/brands.ts';
import type { EventLog, Late } from './event-log.ts';

const ASK_AGAIN_MS = 200;

/**
 * Repeats a question until the answer is accepted or the time is over: a server that lags may know the answer
 * soon.
 */
export const askAgain = async <Answer>(
  ask: () => Promise<Answer>,
  late: Late | undefined,
  isEnough: (answer: Answer) => boolean,
): Promise<Answer> => {
  let answer = await ask();
  if (late === undefined) return answer;
  const { ms, clock } = late;
  for (const untilMs = clock.elapsedMs() + ms; !isEnough(answer) && clock.elapsedMs() < untilMs; ) {
    await clock.sleep(ASK_AGAIN_MS);
    answer = await ask();
  }
  return answer;
};

/** The head; for callers that would otherwise report a position beyond it as wrong. */
export const headReaching = (
  eventLog: Pick<EventLog, 'head' | 'late'>,
  position: Position,
): Promise<Position> =>
  askAgain(
    () => eventLog.head(),
    eventLog.late,
    (head) => head >= position,
  );
