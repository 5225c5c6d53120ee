import type { Position } from '#kernel/base/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { START } from '../event-log.ts';
import { notifyLater } from '../notify-later.ts';
import type { Tail } from '../tail.ts';
import { appendBatch } from './append-batch.ts';
import type { StoreBatch } from './group-commit.ts';
import type { LogNotifier } from './log-notifier.ts';
import type { Reading } from './read.ts';

export type Announce = (position: Position) => void;
type Storing = { readonly writing: Reading; readonly tail: Tail; readonly announce: Announce };

export const announcing = (notifier: LogNotifier, clock: Clock): Announce => {
  let newest: Position = START;
  const announce = notifyLater(() => notifier.announce(newest), clock);
  return (position) => {
    newest = Math.max(newest, position) as Position;
    announce();
  };
};

/** Attempts of an append that expects any version; each fails only if another process was faster. */
const ANY_ATTEMPTS_MAX = 20;

/** Stores batches, and hands their events to the followers of this process as they are. */
export const storing = ({ writing, tail, announce }: Storing): StoreBatch => {
  const store: StoreBatch = async (batch) => {
    const { outcomes, stored } = await appendBatch(writing, batch);
    if (stored) {
      tail.append(stored.before, stored.events);
      announce(stored.last);
    }
    return outcomes;
  };
  return async (batch) => {
    await writing.authentic?.beforeAppend();
    const outcomes = [...(await store(batch))];
    for (let attempt = 1; attempt < ANY_ATTEMPTS_MAX; attempt += 1) {
      const left = [...batch.entries()].filter(
        ([index, { expected }]) => expected === 'any' && outcomes[index] === undefined,
      );
      if (left.length === 0) break;
      const again = await store(left.map(([, each]) => each));
      for (const [n, [index]] of left.entries()) outcomes[index] = again[n];
    }
    return outcomes;
  };
};
