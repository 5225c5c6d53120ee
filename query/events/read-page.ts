import type { Position } from '#shared/brands.ts';
import type { Change, ChangeStream } from '#shared/change-stream/change-stream.ts';

export type ChangesPage = {
  readonly changes: readonly Change[];
  /** There are no others up to here. */
  readonly upTo: Position;
  readonly isLast: boolean;
};

type Asked = { readonly after: Position; readonly limit: number; isWanted(change: Change): boolean };

/** So many are looked at for one page; who may know of few gets a shorter one, and goes on from there. */
const LOOKED_AT_MAX = 10_000;
/** What takes longer than this, ends the page as well. */
const TIME_MAX_MS = 5_000;

/** Up to so many wanted changes after a position, as far as they can be heard now. */
export const readPage = async (changes: Pick<ChangeStream, 'follow' | 'head'>, { after, limit, isWanted }: Asked): Promise<ChangesPage> => {
  const head = await changes.head();
  const wanted: Change[] = [];
  let upTo = after;
  let lookedAt = 0;
  if (upTo >= head) return { changes: wanted, upTo, isLast: true };
  for await (const page of changes.follow(after, AbortSignal.timeout(TIME_MAX_MS))) {
    for (const change of page.changes) {
      lookedAt += 1;
      if (isWanted(change)) wanted.push(change);
      upTo = change.position;
      if (wanted.length === limit || lookedAt === LOOKED_AT_MAX) return { changes: wanted, upTo, isLast: upTo >= head };
    }
    upTo = page.upTo;
    if (upTo >= head) return { changes: wanted, upTo, isLast: true };
  }
  return { changes: wanted, upTo, isLast: false };
};
