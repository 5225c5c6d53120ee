import { expect, test } from 'vitest';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import { START } from '#shared/event-log/event-log.ts';
import { openChangeStream } from './open-change-stream.ts';

/** Fails with the first look at it. */
const unused = new Proxy(
  {},
  {
    get(_, name) {
      throw new Error(`${String(name)} is used`);
    },
  },
) as never;

const open = () =>
  openChangeStream({
    ...{ domain: unused, eventLog: unused, pool: unused, keys: unused, notifier: unused, log: unused },
    clock: unused,
    url: 'postgres:',
  });

test('a change stream that nobody follows listens to nothing', async () => {
  const changes = await open();
  await changes[Symbol.asyncDispose]();
});

/** The changes after the beginning. */
const followed = (changes: ChangeStream) =>
  Array.fromAsync(changes.follow(START, new AbortController().signal));

test('a change stream that is followed listens', async () => {
  await using changes = await open();
  await expect(followed(changes)).rejects.toThrow('is used');
});

test('a closed change stream ends at once, and is not opened again', async () => {
  const changes = await open();
  await changes[Symbol.asyncDispose]();
  expect(await followed(changes)).toEqual([]);
  expect(await changes.head()).toBe(START);
});
