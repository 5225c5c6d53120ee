import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { freePort } from './free-port.ts';

test('ports are handed out one after the other, skipping those in use', async () => {
  const first = await freePort();
  await using taken = createServer().listen(first + 1, '127.0.0.1');
  // Or it is already in use.
  await once(taken, 'listening').catch(() => {});
  const ports = [await freePort(), await freePort()];
  expect(ports).not.toContain(first + 1);
  expect(new Set([first, ...ports]).size).toBe(3);
});

test('no outgoing connection gets one of them', async () => {
  for (let count = 0; count < 20; count += 1) expect(await freePort()).toBeLessThan(32_768);
});
