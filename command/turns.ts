import { Rejection } from '#shared/rejection.ts';

/**
 * Work on the same key is done one after the other, in the order of asking; work on different keys at the
 * same time.
 */
export type Turns<Key> = { take<Result>(key: Key, work: () => Promise<Result>): Promise<Result> };

const WAITING_MAX = 1_000;

export const createTurns = <Key>(waitingMax: number = WAITING_MAX): Turns<Key> => {
  const lines = new Map<Key, { waiting: number; last: Promise<unknown> }>();
  return {
    async take(key, work) {
      const line = lines.get(key) ?? { waiting: 0, last: Promise.resolve() };
      if (line.waiting >= waitingMax) throw new Rejection('conflict');
      lines.set(key, line);
      line.waiting += 1;
      const done = line.last.then(work);
      // The next one does not care how this one ended.
      line.last = done.catch(() => {});
      try {
        return await done;
      } finally {
        line.waiting -= 1;
        if (line.waiting === 0) lines.delete(key);
      }
    },
  };
};
