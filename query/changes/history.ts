import type { ChangePage, ChangeStream } from '#shared/change-stream/change-stream.ts';

/** So many readers read from the log at the same time; the others wait for their next page. */
const READS_MAX = 4;

/** The past, for any number of readers at once: each page takes a turn, and who takes long over one holds up nobody. */
export const createHistory = (past: Pick<ChangeStream, 'follow'>): Pick<ChangeStream, 'follow'> => {
  const turns = createTurns(READS_MAX);
  return {
    async *follow(after, signal): AsyncGenerator<ChangePage> {
      const pages = past.follow(after, signal)[Symbol.asyncIterator]();
      try {
        for (;;) {
          const { value, done } = await turns.take(() => pages.next());
          if (done === true || signal.aborted) return;
          yield value;
        }
      } finally {
        await pages.return?.();
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
