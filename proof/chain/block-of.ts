import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { timeOf } from '#shared/event-log/time-of.ts';
import type { Block, ChainEnd } from '../stored/blocks.ts';
import { hashOf } from '../stored/canonical.ts';
import { extendByAll } from '../stored/chain.ts';

/** The concatenated hashes of events: the expensive part of a block, and independent of earlier blocks. */
export const hashesOf = (events: readonly RecordedEvent[]): Buffer => Buffer.concat(events.map(hashOf));

/** The block that extends the chain. Requires at least one event. */
export const blockOf = (end: ChainEnd, events: readonly RecordedEvent[], hashes: Buffer): Block => {
  const [first] = events;
  const last = events.at(-1);
  if (!first || !last) throw new TypeError('A block has at least one event');
  const { firstAt, lastAt } = timesOf(events.map(timeOf));
  return {
    count: end.count + events.length,
    events: events.length,
    firstPosition: first.position,
    lastPosition: last.position,
    firstAt,
    lastAt,
    latestAt: latestOf(end.latestAt, lastAt),
    hashes,
    head: extendByAll(end.head, hashes),
  };
};

/** The later of two times; null if both are. */
export const latestOf = (one: Date | null, other: Date | null): Date | null =>
  one && (!other || other < one) ? one : other;

export const timesOf = (times: readonly (Date | null)[]): Pick<Block, 'firstAt' | 'lastAt'> => {
  let firstAt: Date | null = null;
  let lastAt: Date | null = null;
  for (const at of times) {
    if (at && (!firstAt || at < firstAt)) firstAt = at;
    lastAt = latestOf(lastAt, at);
  }
  return { firstAt, lastAt };
};
