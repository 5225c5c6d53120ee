/** Too many wait already: trying again in a moment is better than waiting longer. */
export class TooBusy extends Error {
  readonly code = 'too_busy';

  constructor() {
    super('too many passwords wait to be hashed');
    this.name = 'TooBusy';
  }
}

export type Turns = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Lets so many work at once and so many wait, in order; each that is beyond gets `TooBusy` at once. */
export const createTurns = ({ atOnceMax, waitingMax }: { atOnceMax: number; waitingMax: number }): Turns => {
  let working = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (working < atOnceMax) working += 1;
    else if (waiting.length < waitingMax) await new Promise<void>((resolve) => waiting.push(resolve));
    else throw new TooBusy();
    try {
      return await work();
    } finally {
      // A turn that is handed on stays taken.
      const next = waiting.shift();
      if (next === undefined) working -= 1;
      else next();
    }
  };
};
