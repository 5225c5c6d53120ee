import { expect, test } from 'vitest';
import type { Position, UserId } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { callerIn, POLICY } from '../../test/engines/policy.ts';
import { Lane, type Rendered } from './lane.ts';
import type { Cohort } from './renderings.ts';

const author = (userId: number) => callerIn(POLICY, { userId, role: 'author' }, []);
const cohort: Cohort = { key: 'all', topics: ['all'], render: async () => undefined };
const at = (position: number) => position as Position;

/** A change with a message for all, and another for each user it concerns. */
const rendered = (
  position: number,
  message: string | undefined,
  own: Readonly<Record<number, string>> = {},
): Rendered => ({
  change: { position } as Change,
  messages: {
    message: message === undefined ? undefined : Buffer.from(message),
    own: new Map(Object.entries(own).map(([userId, text]) => [Number(userId) as UserId, Buffer.from(text)])),
  },
});

const laneOf = (
  ...readers: readonly { readonly by: number; readonly takesSeveral: boolean; readonly after?: number }[]
) => {
  const lane = new Lane({ cohort, caller: author(1) }, at(0));
  const written = readers.map(({ by, takesSeveral, after = 0 }) => {
    const messages: (readonly [string, number])[] = [];
    const send = (message: Buffer, position: Position) => void messages.push([message.toString(), position]);
    const reader = {
      cohort,
      caller: author(by),
      after: at(after),
      takesSeveral,
      send,
      moveOn: () => {},
      fail: () => {},
    };
    lane.add({ reader, position: at(after), lane });
    return messages;
  });
  return { lane, written };
};

test('messages ready together are one write, except to readers that want single ones or whom one concerns', () => {
  const { lane, written } = laneOf(
    { by: 1, takesSeveral: true },
    { by: 2, takesSeveral: true },
    { by: 1, takesSeveral: false },
  );
  const result = lane.write([rendered(3, 'a'), rendered(5, 'b', { 2: 'B' }), rendered(6, 'c')]);
  const oneByOne = (second: string) => [
    ['a', 3],
    [second, 5],
    ['c', 6],
  ];
  expect(written).toEqual([[['abc', 6]], oneByOne('B'), oneByOne('b')]);
  expect(result).toMatchObject({ sent: 9, writes: 7, bytes: 3 });
  expect(lane.delivered).toBe(6);
});

test('a reader that has some of the messages gets the rest', () => {
  const { lane, written } = laneOf(
    { by: 1, takesSeveral: true, after: 3 },
    { by: 1, takesSeveral: true, after: 9 },
  );
  lane.write([rendered(3, 'a'), rendered(5, 'b')]);
  expect(written).toEqual([[['b', 5]], []]);
});

test('a message that no reader may see is not written', () => {
  const { lane, written } = laneOf({ by: 1, takesSeveral: true });
  lane.write([rendered(3, 'a'), rendered(5, undefined)]);
  lane.write([rendered(7, undefined), rendered(8, undefined)]);
  expect(written).toEqual([[['a', 3]]]);
  expect(lane.delivered).toBe(8);
});
