import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { createDrainRedirect, QUIET_MS, SETTLED_MS } from './drain-redirect.ts';

const start = async () => {
  const clock = createTestClock();
  const redirect = createDrainRedirect((_request, response) => void response.end('done'), clock);
  const server = createServer(redirect.handler).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = (mayMove: boolean) =>
    fetch(url, { method: 'POST', body: 'text', headers: mayMove ? { 'x-may-move': 'yes' } : {} });
  return {
    redirect,
    clock,
    ask,
    /** Whether nobody comes any more, after each of these times. */
    async isOverAfter(...timesMs: readonly number[]) {
      let isOver = false;
      void redirect.untilNobodyComes().then(() => {
        isOver = true;
      });
      const seen: boolean[] = [];
      for (const ms of timesMs) {
        await clock.advance(ms);
        seen.push(isOver);
      }
      return seen;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
};

test('before it begins every request is served here, and afterwards only those that may not move', async () => {
  await using server = await start();
  expect((await server.ask(true)).status).toBe(200);
  server.redirect.begin();
  const moved = await server.ask(true);
  expect([moved.status, moved.headers.get('x-accel-redirect')]).toEqual([502, '@again']);
  expect((await server.ask(false)).status).toBe(200);
});

test('the listener can be closed shortly after a sender was redirected, while it stays away', async () => {
  await using server = await start();
  server.redirect.begin();
  await server.ask(true);
  expect(await server.isOverAfter(SETTLED_MS - 20, 40)).toEqual([false, true]);
});

test('or immediately if nobody can be redirected', async () => {
  await using server = await start();
  await server.ask(false);
  server.redirect.begin();
  expect(await server.isOverAfter(0)).toEqual([true]);
});

test('or after a long time without requests', async () => {
  await using server = await start();
  await server.ask(true);
  server.redirect.begin();
  expect(await server.isOverAfter(QUIET_MS - 20, 60)).toEqual([false, true]);
});
