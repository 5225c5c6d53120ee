import { expect, test } from 'vitest';
import { createFormKeys } from './form-key.ts';

const ADDRESS = { url: 'https://shop.example', eventTypes: ['*'] };
const CORRECTED = { url: 'https://shop.example', eventTypes: ['article.*'] };

/** Sends a form once with each content, all of whose responses are lost; returns the keys. */
const keysOfLost = async (send: ReturnType<typeof createFormKeys>, contents: readonly unknown[]) => {
  const keys: string[] = [];
  for (const content of contents) {
    const lost = send(content, async (key) => {
      keys.push(key);
      throw new Error('the response was lost');
    });
    await expect(lost).rejects.toThrow('the response was lost');
  }
  return keys;
};

test('a form keeps its key until its content changes', async () => {
  const [first, repeated, corrected, former] = await keysOfLost(createFormKeys(), [
    ADDRESS,
    { ...ADDRESS },
    CORRECTED,
    ADDRESS,
  ]);
  expect(repeated).toBe(first);
  expect(corrected).not.toBe(first);
  expect(former).toBe(first);
});

test('after a response, the same content is a new request', async () => {
  const send = createFormKeys();
  const key = await send(ADDRESS, async (sent) => sent);
  expect(await keysOfLost(send, [ADDRESS])).not.toContain(key);
});

test('another form has other keys', async () => {
  expect(await keysOfLost(createFormKeys(), [ADDRESS])).not.toEqual(
    await keysOfLost(createFormKeys(), [ADDRESS]),
  );
});
