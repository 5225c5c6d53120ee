import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Lane, Messages, Rendered } from './lane.ts';

type Begun = { readonly change: Change; readonly done: Promise<void>; messages: Messages | undefined };

/** The maximum of concurrent renderings per lane. */
const AHEAD_MAX = 32;
/** The maximum of all lanes together, not counting the next change of each. */
const AHEAD_OF_ALL_MAX = 512;

/** Renders what the lane takes up, and ends as soon as there is nothing to take up. */
export type RenderAhead = (
  lane: Lane,
  nextQueued: () => Change | undefined,
) => AsyncGenerator<readonly [Rendered, ...Rendered[]], void>;

/**
 * Renders ahead of writing, so that concurrent renderings share their waits for the database. It yields the
 * messages in order: each time the next one, with those that are ready after it. A failure is thrown at its
 * place in the order.
 */
export const createRenderAhead = (render: (lane: Lane, change: Change) => Promise<Messages>): RenderAhead => {
  let ahead = 0;
  return async function* (lane, nextQueued) {
    const begun: Begun[] = [];
    const begin = (change: Change): void => {
      const isAhead = begun.length > 0;
      if (isAhead) ahead += 1;
      const making = render(lane, change);
      const settled = making
        .then((messages) => {
          one.messages = messages;
        })
        .finally(() => {
          if (isAhead) ahead -= 1;
        });
      // Perhaps nobody awaits it.
      settled.catch(() => {});
      const one: Begun = { change, done: settled, messages: undefined };
      begun.push(one);
    };
    const beginAll = (): void => {
      while (begun.length === 0 || (begun.length < AHEAD_MAX && ahead < AHEAD_OF_ALL_MAX)) {
        const change = nextQueued();
        if (change === undefined) return;
        begin(change);
      }
    };
    for (beginAll(); begun[0] !== undefined; beginAll()) {
      await begun[0].done;
      // Lets the others settle that shared the same answer of the database.
      if (begun.length > 1) await nextTurn();
      const [first, ...others] = takeReady(begun);
      if (first !== undefined) yield [first, ...others];
    }
  };
};

const takeReady = (begun: Begun[]): readonly Rendered[] => {
  const count = begun.findIndex(({ messages }) => messages === undefined);
  return begun
    .splice(0, count < 0 ? begun.length : count)
    .map(({ change, messages }) => ({ change, messages: messages as Messages }));
};
