import type { Position } from '#kernel/base/brands.ts';
import type { Change, ChangePage } from '#shared/change-stream/change-stream.ts';
import type { Topic, TopicsOf } from './topics.ts';

/** A change, with its topics computed once for all readers. */
export type IndexedChange = { readonly change: Change; readonly topics: readonly Topic[] };

/** The latest changes, so that readers that soon return are served from memory. */
export type Ring = {
  /** The last position received: the ring has learned of every change up to here. */
  readonly upTo: Position;
  /** Adds the changes of a page, and returns the new ones. */
  add(page: ChangePage): readonly IndexedChange[];
  /** Computes the same for a change that the ring has dropped. */
  index(change: Change): IndexedChange;
  /** The changes after a position, up to `max`; undefined if the ring has dropped some of them. */
  after(position: Position, max: number): readonly IndexedChange[] | undefined;
};

export type RingLimits = { readonly changesMax: number; readonly bytesMax: number };

const LIMITS: RingLimits = { changesMax: 10_000, bytesMax: 32 * 1_048_576 };
/** The estimated size of a change beside its data. */
const CHANGE_BYTES = 1_000;

export const createRing = (
  start: Position,
  topicsOf: TopicsOf,
  { changesMax, bytesMax }: RingLimits = LIMITS,
): Ring => {
  let kept: IndexedChange[] = [];
  let weights: number[] = [];
  let bytes = 0;
  /** The ring has everything after this position. */
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

  const index = (change: Change): IndexedChange => ({ change, topics: topicsOf(change) });

  return {
    index,
    get upTo() {
      return upTo;
    },
    add(page) {
      const fresh = page.changes.filter(({ position }) => position > upTo).map(index);
      for (const added of fresh) {
        const weight = CHANGE_BYTES + JSON.stringify(added.change.data).length;
        kept.push(added);
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

const firstAfter = (kept: readonly IndexedChange[], position: Position): number => {
  let low = 0;
  let high = kept.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((kept[middle]?.change.position ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
};
