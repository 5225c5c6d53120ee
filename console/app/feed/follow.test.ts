import { test as base, expect, vi } from 'vitest';
import { startLocalServer } from '../../../test/engines/local-server.ts';
import { scaled } from '../../../testing/load.ts';
import type { Api } from '../base/api.ts';
import { ApiProblem } from '../base/problem.ts';
import { follow } from './follow.ts';

const DEADLINE_MS = scaled(20_000);
const CURSOR = 'a-0';
const message = (number: number): string =>
  `id: a-${number}\ndata: ${JSON.stringify({ cursor: `a-${number}` })}\n\n`;

/** Reconnect at once. */
const SOON = 'retry: 1\n\n';

const test = base
  .extend('streams', (): string[] => [])
  .extend('askedAfter', (): (string | undefined)[] => [])
  /** A server whose streams end where their texts end; it records the cursor of each request. */
  .extend('api', async ({ askedAfter, streams }, { onCleanup }): Promise<Pick<Api, 'get' | 'stream'>> => {
    const server = await startLocalServer((request, response) => {
      askedAfter.push(request.headers['last-event-id']?.toString());
      const text = streams.shift();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (text === undefined) response.write(':\n\n');
      else response.write(`${SOON}${text}`, () => response.destroy());
    });
    onCleanup(() => server[Symbol.asyncDispose]());
    return {
      get: async <Body>() => ({
        body: { log: { cursor: CURSOR } } as Body,
        next: undefined,
        newer: undefined,
        searchedTo: null,
        location: undefined,
        etag: undefined,
      }),
      stream: (path, headers, signal) => fetch(`${server.url}${path}`, { headers, signal }),
    };
  })
  .extend(
    'followUntil',
    ({ api }) =>
      async (path: string, isEnough: () => boolean, received: string[]): Promise<void> => {
        const leaving = new AbortController();
        const following = follow(api, {
          path,
          signal: leaving.signal,
          onEvent: ({ cursor }) => received.push(cursor),
          onState: () => undefined,
        });
        await vi.waitUntil(isEnough, DEADLINE_MS);
        leaving.abort();
        await following;
      },
  );

test('after any interruption, it resumes after the last cursor: nothing is lost or repeated', {
  timeout: DEADLINE_MS,
}, async ({ askedAfter, followUntil, streams }) => {
  streams.push('', `${message(1)}${message(2)}id: a-3\ndata: {"cur`, `id: a-5\n\n${message(6)}`);
  const received: string[] = [];
  await followUntil('/events', () => askedAfter.length === 4, received);
  expect(received).toEqual(['a-1', 'a-2', 'a-6']);
  expect(askedAfter).toEqual([CURSOR, CURSOR, 'a-2', 'a-6']);
});

test('a stream with a start time begins there', { timeout: DEADLINE_MS }, async ({
  askedAfter,
  followUntil,
  streams,
}) => {
  streams.push(message(1));
  await followUntil('/events?since=2026-11-21T15%3A00%3A00Z', () => askedAfter.length === 2, []);
  expect(askedAfter).toEqual([undefined, 'a-1']);
});

test('a request that would be refused again is not repeated', async ({ api }) => {
  const refused = {
    ...api,
    stream: async () => Promise.reject(new ApiProblem({ status: 403, code: 'forbidden', title: 'No.' })),
  };
  const states: unknown[] = [];
  await follow(refused, {
    path: '/events',
    signal: new AbortController().signal,
    onEvent: () => undefined,
    onState: (state) => states.push(state),
  });
  expect(states).toEqual(['connecting', expect.objectContaining({ code: 'forbidden' })]);
});
