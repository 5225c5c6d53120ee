import type { Filter } from './read-request.ts';
import type { LogRecord } from './records.ts';
import { checkpointBytes } from './wire.ts';

/** Called with each record that a filtered subscription considers; returns a checkpoint when one is due. */
export type Checkpoints = (considered: LogRecord) => Buffer | undefined;

export const checkpointsWhileLive = (filter: Filter | undefined): Checkpoints => everyInterval(filter, 0);

/**
 * As recorded: at the start, a checkpoint names the beginning of its page, with a prepare position of 0;
 * otherwise the record itself.
 */
export const checkpointsFrom = (
  before: LogRecord | undefined | 'start',
  filter: Filter | undefined,
): Checkpoints => (before === 'start' ? byPage(filter) : everyInterval(filter, before?.indexInAppend ?? 0));

/**
 * The real server also considers the earlier events of the append that it resumes after, hence the head
 * start.
 */
const everyInterval = (filter: Filter | undefined, headStart: number): Checkpoints => {
  if (!filter) return () => undefined;
  let considered = headStart % filter.interval;
  return ({ position }) => {
    considered = (considered + 1) % filter.interval;
    return considered === 0 ? checkpointBytes(position, position) : undefined;
  };
};

const byPage = (filter: Filter | undefined): Checkpoints => {
  if (!filter) return () => undefined;
  let considered = 0;
  let pageStart = 0;
  return ({ position }) => {
    considered = (considered + 1) % filter.interval;
    if (considered !== 0) return undefined;
    const checkpoint = checkpointBytes(pageStart, 0);
    pageStart = position;
    return checkpoint;
  };
};
