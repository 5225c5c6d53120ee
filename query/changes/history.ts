import { LRUCache } from 'lru-cache';
import type { Position } from '#shared/brands.ts';
import type { ChangePage, ChangeStream } from '#shared/change-stream/change-stream.ts';

/** So many readers read from the log at the same time; the others wait for their next page. */
const READS_MAX = 4;
/**
 * After a restart everybody comes back at once, and most of them to the same place. A page may have 16 MiB,
 * and does not stay.
 */
const KNOWN = { max: 8, ttl: 2_000, ttlAutopurge: true };

/**
 * The past, for any number of readers at once: each page takes a turn, and who takes long over one holds up
 * nobody.
 */
export const createHistory = (past: Pick<ChangeStream, 'follow'>): Pick<ChangeStream, 'follow'> => {
  const turns = createTurns(READS_MAX);
  /** The pages that were read last, by the position that they come after. */
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
          // One that leads nowhere would be found again and again.
          if (value.upTo > last) known.set(last, value);
          return value;
        }
        // It is behind now, and begins again where that ends.
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
        // The turn goes from one to the next without being free in between.
        const next = waiting.shift();
        if (next === undefined) taken -= 1;
        else next();
      }
    },
  };
};
