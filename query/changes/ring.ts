import type { Position } from '#shared/brands.ts';
import type { Change, ChangePage } from '#shared/change-stream/change-stream.ts';
import type { Topic, TopicsOf } from './topics.ts';

/** A change, with what can be said of it once for all. */
export type Heard = { readonly change: Change; readonly topics: readonly Topic[] };

/** The latest changes, so that whoever comes back soon is served from memory. */
export type Ring = {
  /** How far was heard: there are no other changes up to here. */
  readonly upTo: Position;
  /** Takes what comes next, and answers with what of it is new. */
  take(page: ChangePage): readonly Heard[];
  /** What can be said of a change that is not kept any more. */
  hear(change: Change): Heard;
  /** The changes after a position, at most so many; undefined where not all of them are here any more. */
  after(position: Position, max: number): readonly Heard[] | undefined;
};

export type RingLimits = { readonly changesMax: number; readonly bytesMax: number };

const LIMITS: RingLimits = { changesMax: 10_000, bytesMax: 32 * 1_048_576 };
/** What a change weighs beside its data. */
const CHANGE_BYTES = 1_000;

export const createRing = (
  start: Position,
  topicsOf: TopicsOf,
  { changesMax, bytesMax }: RingLimits = LIMITS,
): Ring => {
  let kept: Heard[] = [];
  let weights: number[] = [];
  let bytes = 0;
  /** Everything after this is here. */
  let from = start;
  let upTo = start;

  /** Drops more than it must, so that it need not at every change. */
  const makeRoom = (): void => {
    if (kept.length <= changesMax && bytes <= bytesMax) return;
    let dropped = 0;
    while (kept.length - dropped > changesMax * KEPT_SHARE || bytes > bytesMax * KEPT_SHARE)
      bytes -= weights[dropped++] ?? 0;
    from = kept[dropped - 1]?.change.position ?? from;
    kept = kept.slice(dropped);
    weights = weights.slice(dropped);
  };

  const hear = (change: Change): Heard => ({ change, topics: topicsOf(change) });

  return {
    hear,
    get upTo() {
      return upTo;
    },
    take(page) {
      const fresh = page.changes.filter(({ position }) => position > upTo).map(hear);
      for (const heard of fresh) {
        const weight = CHANGE_BYTES + JSON.stringify(heard.change.data).length;
        kept.push(heard);
        weights.push(weight);
        bytes += weight;
      }
      if (page.upTo > upTo) upTo = page.upTo;
      makeRoom();
      return fresh;
    },
    after(position, max) {
      if (position < from) return undefined;
      const first = firstAfter(kept, position);
      return kept.slice(first, first + max);
    },
  };
};

const KEPT_SHARE = 0.9;

const firstAfter = (kept: readonly Heard[], position: Position): number => {
  let low = 0;
  let high = kept.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((kept[middle]?.change.position ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
};
