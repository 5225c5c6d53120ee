import { Rejection } from '#shared/rejection.ts';

/** Runs tasks of one key in order, one at a time; tasks of different keys in parallel. */
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
      // The next task runs regardless of the result.
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
