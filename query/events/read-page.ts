import type { Position } from '#shared/brands.ts';
import type { Change, ChangePage } from '#shared/change-stream/change-stream.ts';

export type ChangesPage = {
  readonly changes: readonly Change[];
  /** There are no others up to here. */
  readonly upTo: Position;
  readonly isLast: boolean;
};

type Asked = {
  readonly after: Position;
  /** As far as there is anything to read. */
  readonly upTo: Position;
  readonly limit: number;
  isWanted(change: Change): boolean;
};

/** Where the changes come from: all in their order after a position, or those of one stream. */
export type Walk = (after: Position, signal: AbortSignal) => AsyncIterable<ChangePage>;

/** So many are looked at for one page; who may know of few gets a shorter one, and goes on from there. */
const LOOKED_AT_MAX = 10_000;
/** What takes longer than this, ends the page as well. */
const TIME_MAX_MS = 5_000;

/** Up to so many wanted changes after a position. */
export const readPage = async (walk: Walk, { after, upTo: end, limit, isWanted }: Asked): Promise<ChangesPage> => {
  const wanted: Change[] = [];
  let upTo = after;
  let lookedAt = 0;
  if (upTo >= end) return { changes: wanted, upTo, isLast: true };
  for await (const page of walk(after, AbortSignal.timeout(TIME_MAX_MS))) {
    for (const change of page.changes) {
      if (change.position > end) break;
      lookedAt += 1;
      if (isWanted(change)) wanted.push(change);
      upTo = change.position;
      if (wanted.length === limit || lookedAt === LOOKED_AT_MAX) return { changes: wanted, upTo, isLast: upTo >= end };
    }
    upTo = page.upTo < end ? page.upTo : end;
    if (upTo >= end) return { changes: wanted, upTo, isLast: true };
  }
  return { changes: wanted, upTo, isLast: false };
};
