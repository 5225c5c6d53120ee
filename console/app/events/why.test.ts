import { expect, test } from 'vitest';
import { type Cause, causesOf } from './why.ts';

const event = (id: string, causation: string | null) => ({ id, causation }) as unknown as Cause['event'];
const shown = (causes: readonly Cause[]): unknown =>
  causes.map(({ event: { id }, caused, deliveries }) => [id, shown(caused), deliveries.length]);

test('the consequences of an event are nested under it, with its deliveries', () => {
  const events = [event('a', null), event('b', 'a'), event('c', 'a'), event('d', 'c'), event('e', null)];
  const deliveries = [{ eventId: 'c' }, { eventId: 'c' }] as unknown as Cause['deliveries'];
  expect(shown(causesOf({ events, deliveries: [...deliveries] }))).toEqual([
    [
      'a',
      [
        ['b', [], 0],
        ['c', [['d', [], 0]], 2],
      ],
      0,
    ],
    ['e', [], 0],
  ]);
});

test('an event whose cause is not shown is at the top', () => {
  expect(shown(causesOf({ events: [event('b', 'a')] }))).toEqual([['b', [], 0]]);
});
