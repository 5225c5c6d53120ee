import type { Position } from '#kernel/base/brands.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { readCheckpoint } from '#shared/follower/checkpoint.ts';
import { EVENT_INDEX } from './event-index.ts';

/**
 * The index normally lags by about a second, and the log has no more events in that time. Events after the
 * index are read from the log.
 */
const BEHIND_EVENTS_MAX = 5_000;

type Sources = {
  readonly pool: Pick<Pool, 'query'>;
  readonly eventLog: Pick<EventLog, 'identity'>;
};

/** The position of the index; the start of the log if it does not exist or belongs to another log. */
export const indexEnd = async ({ pool, eventLog }: Sources): Promise<Position> => {
  const checkpoint = await readCheckpoint(pool, EVENT_INDEX).catch(() => undefined);
  return checkpoint?.log === eventLog.identity ? checkpoint.position : START;
};

/** The events after the index. If they are too many, as after an upgrade, the client must retry later. */
export const readBehind = async (
  eventLog: Pick<EventLog, 'follow'>,
  { after, upTo }: { readonly after: Position; readonly upTo: Position },
): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  for await (const some of readBetween(eventLog, { after, upTo })) {
    events.push(...some);
    if (events.length > BEHIND_EVENTS_MAX) throw indexBehind();
  }
  return events;
};

const indexBehind = (): HttpProblem =>
  new HttpProblem('unavailable', {
    detail: 'The index of events is being built. Retry later, or list the oldest first.',
    headers: { 'Retry-After': '5' },
  });
