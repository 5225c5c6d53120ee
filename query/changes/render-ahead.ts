import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Lane, Messages, Rendered } from './lane.ts';

type Begun = { readonly change: Change; readonly done: Promise<void>; messages: Messages | undefined };

/** Of one lane, so many are in the making at once. */
const AHEAD_MAX = 32;
/** Of all lanes together, beside the one of each that is next. */
const AHEAD_OF_ALL_MAX = 512;

/**
 * Renders what a lane takes up; ends once there is nothing to take up, which is asked for again and again.
 */
export type RenderAhead = (
  lane: Lane,
  takeUp: () => Change | undefined,
) => AsyncGenerator<readonly [Rendered, ...Rendered[]], void>;

/**
 * Renders ahead of what is written, so that changes that wait for the database wait together, and hands them
 * over in their order: each time the next one, with those that are ready after it. One that fails does so in
 * its place.
 */
export const createRenderAhead = (render: (lane: Lane, change: Change) => Promise<Messages>): RenderAhead => {
  let ahead = 0;
  return async function* (lane, takeUp) {
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
      // It may be that nobody comes to wait for it.
      settled.catch(() => {});
      const one: Begun = { change, done: settled, messages: undefined };
      begun.push(one);
    };
    const beginAll = (): void => {
      while (begun.length === 0 || (begun.length < AHEAD_MAX && ahead < AHEAD_OF_ALL_MAX)) {
        const change = takeUp();
        if (change === undefined) return;
        begin(change);
      }
    };
    for (beginAll(); begun[0] !== undefined; beginAll()) {
      await begun[0].done;
      // The others that the same answer was for.
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
