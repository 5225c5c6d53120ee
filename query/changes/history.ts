import { LRUCache } from 'lru-cache';
import type { Position } from '#kernel/base/brands.ts';
import type { ChangePage, ChangeStream } from '#shared/change-stream/change-stream.ts';

/** The number of concurrent reads of the log; further readers wait for their next page. */
const READS_MAX = 4;
/**
 * After a restart all readers return at once, most of them to the same position. A page may have 16 MiB, so
 * it is cached only briefly.
 */
const KNOWN = { max: 8, ttl: 2_000, ttlAutopurge: true };

/**
 * The past, for any number of readers at once. The limit applies to each page, so a slow reader delays no
 * other.
 */
export const createHistory = (past: Pick<ChangeStream, 'follow'>): Pick<ChangeStream, 'follow'> => {
  const turns = createTurns(READS_MAX);
  /** The pages read last, by the position that they come after. */
  const known = new LRUCache<Position, ChangePage>(KNOWN);
  return {
    async *follow(after, signal): AsyncGenerator<ChangePage> {
      let last = after;
      let pages: AsyncIterator<ChangePage> | undefined;
      const readPage = async (): Promise<ChangePage | undefined> => {
        const page = known.get(last);
        if (page === undefined) {
          pages ??= past.follow(last, signal)[Symbol.asyncIterator]();
          const { value, done } = await pages.next();
          if (done === true) return undefined;
          // A page that does not advance would be found again and again.
          if (value.upTo > last) known.set(last, value);
          return value;
        }
        // The open iterator is behind now. The next one starts where this page ends.
        await pages?.return?.();
        pages = undefined;
        return page;
      };
      try {
        for (;;) {
          const page = await turns.take(readPage);
          if (page === undefined || signal.aborted) return;
          last = page.upTo;
          yield page;
        }
      } finally {
        await pages?.return?.();
      }
    },
  };
};

const createTurns = (max: number) => {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    take: async <Value>(work: () => Promise<Value>): Promise<Value> => {
      if (taken < max) taken += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // Hands its permit to the next reader without releasing it in between.
        const next = waiting.shift();
        if (next === undefined) taken -= 1;
        else next();
      }
    },
  };
};
