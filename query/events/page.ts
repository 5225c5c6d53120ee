import type { Position } from '#shared/brands.ts';
import type { Change, ChangePage } from '#shared/change-stream/change-stream.ts';

export type Order = 'asc' | 'desc';

/**
 * Where the changes come from, in an order: all of a span, or those that an index finds. There are no others
 * as far as each page says.
 */
export type Walk = (from: Position, signal: AbortSignal) => AsyncIterable<ChangePage>;

export type ChangesPage = {
  readonly changes: readonly Change[];
  /** As far as it was looked: what is left of the span comes after it, or, backwards, up to it. */
  readonly reached: Position;
  readonly isLast: boolean;
  /** When the last was made that was looked at, in whichever order. */
  readonly lookedAt: string | undefined;
};

type Asked = {
  readonly after: Position;
  /** As far as there is anything to read. */
  readonly upTo: Position;
  readonly order: Order;
  readonly limit: number;
  readonly lookedAtMax: number;
  isWanted(change: Change): boolean | Promise<boolean>;
};

/** What takes longer than this, ends the page. */
const TIME_MAX_MS = 5_000;
/** So many are looked at together, so that what is asked of the database for each is asked once. */
const TOGETHER = 100;

/** Up to so many wanted changes of a span, from its beginning or from its end. */
export const readPage = async (walk: Walk, asked: Asked): Promise<ChangesPage> => {
  const { after, upTo, order, limit, lookedAtMax, isWanted } = asked;
  const isUpward = order === 'asc';
  const wanted: Change[] = [];
  let [reached, count, lookedAt] = [isUpward ? after : upTo, 0, undefined as string | undefined];
  const pageSoFar = (): ChangesPage => ({
    changes: wanted,
    reached,
    isLast: isUpward ? reached >= upTo : reached <= after,
    lookedAt,
  });
  if (pageSoFar().isLast) return pageSoFar();
  for await (const page of walk(reached, AbortSignal.timeout(TIME_MAX_MS))) {
    for (const some of inParts(page.changes.filter(({ position }) => position > after && position <= upTo))) {
      const answers = await Promise.all(some.map(isWanted));
      for (const [index, change] of some.entries()) {
        count += 1;
        if (answers[index]) wanted.push(change);
        reached = isUpward ? change.position : ((change.position - 1) as Position);
        lookedAt = change.at;
        if (wanted.length === limit || count === lookedAtMax) return pageSoFar();
      }
    }
    reached = isUpward ? earlier(page.upTo, upTo) : later(page.upTo, after);
    if (pageSoFar().isLast) break;
  }
  return pageSoFar();
};

export const earlier = (one: Position, other: Position): Position => (one < other ? one : other);
export const later = (one: Position, other: Position): Position => (one > other ? one : other);

function* inParts(changes: readonly Change[]): Generator<readonly Change[]> {
  for (let from = 0; from < changes.length; from += TOGETHER) yield changes.slice(from, from + TOGETHER);
}
