import type { Position } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Received } from './message.ts';

const COUNT_MAX = 10_000;
const BYTES_MAX = 8 * 1_048_576;
const PAGE_MAX = 500;

type Kept = { readonly change: Change; readonly bytes: number; readonly atMs: number };

/**
 * The last received changes, without gaps. A change that follows a missing one starts over, so that
 * subscribers before it have to read elsewhere.
 */
export class RecentChanges {
  #kept: Kept[] = [];
  #bytes = 0;
  /** Every later change is here. */
  #after: Position | undefined;

  /** Adds a received change, in any order and any number of times; an old one changes nothing. */
  add({ change, previous, bytes }: Received, atMs = performance.now()): void {
    const end = this.end;
    if (end !== undefined && change.position <= end) return;
    if (end === undefined || previous > end) {
      this.#kept = [];
      this.#bytes = 0;
      this.#after = previous;
    }
    this.#kept.push({ change, bytes, atMs });
    this.#bytes += bytes;
    this.#trim();
  }

  /** Of the last received change. */
  get end(): Position | undefined {
    return this.#kept.at(-1)?.change.position;
  }

  /** The next changes after a position, perhaps none; undefined if some of them are missing here. */
  since(position: Position): readonly Change[] | undefined {
    if (this.#after === undefined || position < this.#after) return undefined;
    const from = this.#firstFrom(position + 1);
    return this.#kept.slice(from, from + PAGE_MAX).map(({ change }) => change);
  }

  /** When everything up to a position had been received; undefined if it has not been. */
  heardAtMs(position: Position): number | undefined {
    return this.#kept[this.#firstFrom(position)]?.atMs;
  }

  #firstFrom(position: number): number {
    let [low, high] = [0, this.#kept.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#kept[middle]?.change.position ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #trim(): void {
    while (this.#kept.length > COUNT_MAX || (this.#bytes > BYTES_MAX && this.#kept.length > 1)) {
      const oldest = this.#kept.shift();
      if (!oldest) return;
      this.#bytes -= oldest.bytes;
      this.#after = oldest.change.position;
    }
  }
}

/** The number of changes to receive again after a start. */
export const WORTH_HEARING = COUNT_MAX;
