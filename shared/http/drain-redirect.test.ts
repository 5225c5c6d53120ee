import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { createDrainRedirect, type DrainRedirect } from './drain-redirect.ts';

const start = async () => {
  const redirect = createDrainRedirect((_request, response) => void response.end('done'));
  const server = createServer(redirect.handler).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = (mayMove: boolean) =>
    fetch(url, { method: 'POST', body: 'text', headers: mayMove ? { 'x-may-move': 'yes' } : {} });
  return {
    redirect,
    ask,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
};

const tookMs = async (redirect: DrainRedirect): Promise<number> => {
  const startedMs = performance.now();
  await redirect.untilNobodyComes();
  return performance.now() - startedMs;
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
  const ms = await tookMs(server.redirect);
  expect(ms).toBeGreaterThan(300);
});

test('or immediately if nobody can be redirected', async () => {
  await using server = await start();
  await server.ask(false);
  server.redirect.begin();
  expect(await tookMs(server.redirect)).toBeLessThan(scaled(2_000));
});

test('or after a long time without requests', async () => {
  await using server = await start();
  await server.ask(true);
  server.redirect.begin();
  expect(await tookMs(server.redirect)).toBeGreaterThan(2_000);
});
