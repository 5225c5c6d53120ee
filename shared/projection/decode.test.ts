import { expect, test } from 'vitest';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Codec, DecodedEvent } from '#shared/events/codec.ts';
import { UnknownEventType } from '#shared/events/errors.ts';
import { decodeAround } from './decode.ts';

const events = Array.from(
  { length: 1_000 },
  (_, n) =>
    ({ stream: `article-${n}`, version: 1, position: n + 1, type: 'article.drafted' }) as RecordedEvent,
);

/** Fails with the given errors at some positions, and counts its calls. */
const codecThatFails = (failures: ReadonlyMap<number, Error>) => {
  let calls = 0;
  const decodeAll: Codec['decodeAll'] = async (recorded) => {
    calls += 1;
    for (const { position } of recorded) if (failures.has(position)) throw failures.get(position);
    return recorded as readonly RecordedEvent[] as readonly DecodedEvent[];
  };
  return { codec: { decodeAll } as Codec, calls: () => calls };
};

const unknown = new UnknownEventType({ type: 'article.eaten', id: 'x' as never, position: 7 as never });

test('decodable events are decoded in one call', async () => {
  const { codec, calls } = codecThatFails(new Map());
  expect(await decodeAround(codec, events)).toEqual({ decoded: events, damaged: [] });
  expect(calls()).toBe(1);
});

test('a few damaged events are found in a few calls, and the others decoded in order', async () => {
  const { codec, calls } = codecThatFails(
    new Map([
      [7, unknown],
      [700, new TypeError('title of undefined')],
    ]),
  );
  const { decoded, damaged } = await decodeAround(codec, events);
  expect(decoded).toEqual(events.filter(({ position }) => position !== 7 && position !== 700));
  expect(damaged).toMatchObject([
    { stream: 'article-6', reason: unknown.message },
    { stream: 'article-699', reason: 'Decoding the event fails with a TypeError' },
  ]);
  expect(calls()).toBeLessThan(50);
});

test.each([
  ['the database is away', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })],
  ['the process is stopping', new Error('Cannot use a pool after calling end on the pool')],
])('nothing is taken for damaged because %s', async (_why, error) => {
  const { codec } = codecThatFails(new Map([[7, error]]));
  await expect(decodeAround(codec, events)).rejects.toBe(error);
});
