/** The queue is full: a retry in a moment is better than a longer wait. */
export class TooBusy extends Error {
  readonly code = 'too_busy';

  constructor() {
    super('the queue is full');
    this.name = 'TooBusy';
  }
}

type Semaphore = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * A semaphore with a bounded queue: runs tasks in order, and rejects with `TooBusy` at once if the queue is
 * full.
 */
export const createSemaphore = ({
  atOnceMax,
  waitingMax,
}: {
  atOnceMax: number;
  waitingMax: number;
}): Semaphore => {
  let working = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (working < atOnceMax) working += 1;
    else if (waiting.length < waitingMax) await new Promise<void>((resolve) => waiting.push(resolve));
    else throw new TooBusy();
    try {
      return await work();
    } finally {
      // A slot passed to the next task stays taken.
      const next = waiting.shift();
      if (next === undefined) working -= 1;
      else next();
    }
  };
};
