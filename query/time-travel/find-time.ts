import type { Position } from '#kernel/base/brands.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { type IndexedLog, positionAt } from '#shared/event-index/position-at.ts';
import { type Charge, createMeter } from '../rest/meter.ts';

/** Twice the size of a batch of the index. Only events that it does not cover yet can be more. */
const EVENTS_MAX = 2_000;

/**
 * The position at a time, for clients. Reading for it is charged. While the index lags far behind the log, as
 * after a restore, the request is refused instead of reading the log.
 */
export const findTime = (log: IndexedLog, time: Date, charge: Charge): Promise<Position> => {
  const { onRead } = createMeter(charge);
  let count = 0;
  return positionAt(log, time, async (events) => {
    if (count >= EVENTS_MAX) throw indexBehind();
    count += events.length;
    await onRead(events);
  });
};

const indexBehind = (): HttpProblem =>
  new HttpProblem('unavailable', {
    detail:
      'Times cannot be used at the moment, because the index of the log is being built. Retry later, or use a cursor.',
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  });

const RETRY_AFTER_SECONDS = '5';
