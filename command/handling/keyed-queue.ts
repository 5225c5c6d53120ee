import { Rejection } from '#kernel/base/rejection.ts';

/** Runs tasks of one key in order, one at a time; tasks of different keys in parallel. */
type KeyedQueue<Key> = { run<Result>(key: Key, work: () => Promise<Result>): Promise<Result> };

const WAITING_MAX = 1_000;

export const createKeyedQueue = <Key>(waitingMax: number = WAITING_MAX): KeyedQueue<Key> => {
  const queues = new Map<Key, { waiting: number; last: Promise<unknown> }>();
  return {
    async run(key, work) {
      const queue = queues.get(key) ?? { waiting: 0, last: Promise.resolve() };
      if (queue.waiting >= waitingMax) throw new Rejection('conflict');
      queues.set(key, queue);
      queue.waiting += 1;
      const done = queue.last.then(work);
      // The next task runs regardless of the result.
      queue.last = done.catch(() => {});
      try {
        return await done;
      } finally {
        queue.waiting -= 1;
        if (queue.waiting === 0) queues.delete(key);
      }
    },
  };
};
