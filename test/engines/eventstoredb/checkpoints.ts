import type { Filter } from './read-request.ts';
import type { LogRecord } from './records.ts';
import { checkpointBytes } from './wire.ts';

/** Told each record a filtered subscription considers, says when a checkpoint is due. */
export type Checkpoints = (considered: LogRecord) => Buffer | undefined;

export const checkpointsWhileLive = (filter: Filter | undefined): Checkpoints => everyInterval(filter, 0);

/**
 * As recorded: from the start a checkpoint names where its page began, with a prepare position of 0;
 * otherwise the record itself.
 */
export const checkpointsFrom = (
  before: LogRecord | undefined | 'start',
  filter: Filter | undefined,
): Checkpoints => (before === 'start' ? byPage(filter) : everyInterval(filter, before?.indexInAppend ?? 0));

/**
 * The real server considers the earlier events of the append that it resumes behind as well, hence the head
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
