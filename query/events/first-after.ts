import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';

const LOOKED_AT_EVENTS = 100;

/**
 * The version of the first event of a stream after a position, or the version that the next event will have.
 * Binary search.
 */
export const firstAfter = async (
  eventLog: Pick<EventLog, 'read'>,
  stream: StreamName,
  position: Position,
): Promise<Version> => {
  const pageFrom = async (version: number): Promise<readonly RecordedEvent[]> => {
    for await (const page of eventLog.read(
      stream,
      version as Version,
      (version + LOOKED_AT_EVENTS - 1) as Version,
    ))
      return page;
    return [];
  };
  let [low, high, step] = [0, Number.POSITIVE_INFINITY, 1];
  while (high - low > 1) {
    const version = high === Number.POSITIVE_INFINITY ? low + step : Math.floor((low + high) / 2);
    const page = await pageFrom(version);
    const [first, last] = [page.find((event) => event.position > position), page.at(-1)];
    if (first && first !== page[0]) return first.version;
    if (first || !last) high = version;
    else low = last.version;
    step = Math.max(step * 2, page.length);
  }
  return high as Version;
};
