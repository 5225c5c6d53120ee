import type { RecordedEvent } from './event-log.ts';

/**
 * The number of events with which a page ends before the event `next`, so that its end divides no append:
 * readers see all of a command, or nothing. Without a known `next`, the append at the end may continue. The
 * events of an append follow each other, and have the request and the time of their command. A page that is
 * all of one append stays as it is.
 */
export const wholeAppends = (events: readonly RecordedEvent[], next?: RecordedEvent): number => {
  const last = events.at(-1);
  if (last === undefined || !isOfAppend(last) || (next && !isSameAppend(last, next))) return events.length;
  let count = events.length - 1;
  for (let before = events[count - 1]; before && isSameAppend(before, last); before = events[count - 1])
    count -= 1;
  return count === 0 ? events.length : count;
};

/** Records of others in the log may have no metadata. */
const isOfAppend = ({ metadata }: RecordedEvent): boolean =>
  typeof metadata?.request === 'string' && typeof metadata.at === 'string';

const isSameAppend = ({ metadata: one }: RecordedEvent, { metadata: other }: RecordedEvent): boolean =>
  one?.request === other?.request && one?.at === other?.at;
