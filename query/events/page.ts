import type { Position } from '#kernel/base/brands.ts';
import type { Change, ChangePage } from '#shared/change-stream/change-stream.ts';

export type Order = 'asc' | 'desc';

/**
 * Reads the changes of a span in order: all of them, or those that an index finds. Each page proves that
 * there are no others up to where it ends.
 */
export type Walk = (from: Position, signal: AbortSignal) => AsyncIterable<ChangePage>;

export type ChangesPage = {
  readonly changes: readonly Change[];
  /** The end of what was examined: the rest of the span is after it or, in descending order, up to it. */
  readonly reached: Position;
  readonly isLast: boolean;
  /** The time of the last change examined, in either order. */
  readonly lookedAt: string | undefined;
};

type Asked = {
  readonly after: Position;
  /** The end of the span. */
  readonly upTo: Position;
  readonly order: Order;
  readonly limit: number;
  readonly lookedAtMax: number;
  isWanted(change: Change): boolean | Promise<boolean>;
};

/** The timeout after which a page ends early. */
const TIME_MAX_MS = 5_000;
/** The changes examined together, so that their questions to the database become one statement. */
const TOGETHER = 100;

/** Up to `limit` wanted changes of a span, from its beginning or from its end. */
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
