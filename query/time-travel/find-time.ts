import type { Position } from '#kernel/base/brands.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { type AuditedLog, positionAt } from '#shared/audit/position-at.ts';
import { type Charge, createMeter } from '../rest/meter.ts';

/** Twice the size of a block of the chain. Only events that the chain does not cover yet can be more. */
const EVENTS_MAX = 2_000;

/**
 * The position at a time, for clients. Reading for it is charged. While the chain lags far behind the log, as
 * after a restore, the request is refused instead of reading the log.
 */
export const findTime = (log: AuditedLog, time: Date, charge: Charge): Promise<Position> => {
  const { onRead } = createMeter(charge);
  let count = 0;
  return positionAt(log, time, async (events) => {
    if (count >= EVENTS_MAX) throw chainBehind();
    count += events.length;
    await onRead(events);
  });
};

const chainBehind = (): HttpProblem =>
  new HttpProblem('unavailable', {
    detail:
      'Times cannot be used at the moment, because the chain of the log is being built. Retry later, or use a cursor.',
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  });

const RETRY_AFTER_SECONDS = '5';
