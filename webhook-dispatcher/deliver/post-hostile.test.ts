import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setInterval } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { loadConfig } from '#process/load-config.ts';
import { openRawServer } from '../../test/engines/raw-server.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { openPoster } from './post.ts';

/** Receivers that violate the protocol in various ways. */
const { guard } = loadConfig({}).webhooks;
const PATIENT_MS = 10_000;
const HASTY_MS = 500;

const open = (timeoutMs = PATIENT_MS) => openPoster({ rules: guard, timeoutMs });

const forever = new AbortController().signal;
const to = (url: string) => ({ url, headers: {}, body: Buffer.from('{}') });

/** Writes while the socket is open. */
const pour = (socket: Socket, text: string): void => {
  while (!socket.destroyed && socket.write(text));
  if (!socket.destroyed)
    void once(socket, 'drain').then(
      () => pour(socket, text),
      () => {},
    );
};

const dribble = async (socket: Socket, text: string, start = ''): Promise<void> => {
  socket.write(start);
  for await (const _ of setInterval(20)) {
    if (socket.destroyed) return;
    socket.write(text);
  }
};

test.each([
  ['without an end', (socket: Socket) => pour(socket, 'x'.repeat(10_000))],
  ['of a megabyte', (socket: Socket) => socket.write('x'.repeat(1_048_576))],
])('a response %s is cut off, and counts', async (_, write) => {
  await using receiver = await openRawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 1048576000\r\n\r\n');
    write(socket);
  });
  await using poster = open();
  const answer = await poster.post(to(receiver.url), forever);
  expect(answer).toMatchObject({ status: 200, error: null });
  expect(Buffer.from(answer.body ?? []).toString()).toBe('x'.repeat(16_385));
  await until(receiver.open, (count) => count === 0);
});

test.each([
  ['says nothing', () => {}],
  ['says its headers letter by letter', async (socket: Socket) => dribble(socket, 'H')],
  [
    'sends headers without an end',
    async (socket: Socket) => dribble(socket, 'x-y: z\r\n', 'HTTP/1.1 200 OK\r\n'),
  ],
  [
    'says to go on without an end',
    async (socket: Socket) => dribble(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  ],
])('a receiver that %s is cut off at the timeout', async (_, answer) => {
  await using receiver = await openRawServer(answer);
  await using poster = open(HASTY_MS);
  const { status, error, durationMs } = await poster.post(to(receiver.url), forever);
  expect(status).toBeNull();
  expect(error).toMatch(/^(There was no response within 500 ms|The response was not valid HTTP)\.$/);
  expect(durationMs).toBeLessThan(scaled(10 * HASTY_MS));
  await until(receiver.open, (count) => count === 0);
});

test.each([
  ['letter by letter', async (socket: Socket) => dribble(socket, 'x')],
  ['not at all', () => {}],
])('a received status counts, even if the rest comes %s', async (_, rest) => {
  await using receiver = await openRawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\nstart ');
    void rest(socket);
  });
  await using poster = open(HASTY_MS);
  const answer = await poster.post(to(receiver.url), forever);
  expect(answer).toMatchObject({ status: 200, error: null });
  expect(Buffer.from(answer.body ?? []).toString()).toMatch(/^start /);
  await until(receiver.open, (count) => count === 0);
});

test.each([
  ['breaks off', (socket: Socket) => socket.resetAndDestroy(), /connection was/],
  ['hangs up', (socket: Socket) => socket.end(), 'The connection was closed before a response arrived.'],
  [
    'breaks off in the headers',
    (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncont'),
    /connection was|not valid HTTP/,
  ],
  [
    'speaks another protocol',
    (socket: Socket) => socket.end('220 smtp.example ESMTP\r\n'),
    'The response was not valid HTTP.',
  ],
  [
    'has too much to say in its headers',
    (socket: Socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`),
    /headers of the response are too long/,
  ],
  [
    'changes the protocol',
    (socket: Socket) =>
      socket.write('HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'),
    /./,
  ],
])('a receiver that %s counts as not responding, with the reason', async (_, answer, words) => {
  await using receiver = await openRawServer(answer);
  await using poster = open();
  expect(await poster.post(to(receiver.url), forever)).toMatchObject({
    status: null,
    error: expect.stringMatching(words),
    body: null,
  });
});
