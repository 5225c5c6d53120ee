import { type Client, createClient } from 'graphql-ws';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { publishing as publishingDomain } from '#domain/publishing.ts';
import { EVERY_PART } from '../../parts.ts';
import { until } from '../../testing/until.ts';
import { test as installationTest } from '../engines/installation-fixture.ts';
import { numbered, PUBLISHED, type Published } from '../engines/publishing.ts';

const PROGRAM = 'test/toy/parts-main.ts';
const test = installationTest
  .extend(
    'installationOptions',
    { scope: 'file' },
    {
      of: { domain: publishingDomain, parts: EVERY_PART, main: PROGRAM, program: PROGRAM },
      settings: { PARTS: EVERY_PART.map(({ name }) => name).join(' ') },
    },
  )
  .extend(
    'socketUrl',
    { scope: 'file' },
    ({ installation: { origin } }) => `${origin.replace('http', 'ws')}/graphql`,
  )
  /** A client as docs/changes.md has it, which connects again after the last cursor that it has. */
  .extend('follow', ({ ada, socketUrl }, { onCleanup }) => {
    const clients: Client[] = [];
    onCleanup(() => {
      for (const client of clients) void client.dispose();
    });
    return (query: string = PUBLISHED) => {
      let after: string | undefined;
      const seen: string[] = [];
      const refusals: unknown[] = [];
      let connections = 0;
      const client = createClient({
        url: socketUrl,
        webSocketImpl: WebSocket,
        connectionParams: { Authorization: `Bearer ${ada.token}` },
        retryAttempts: 1_000,
        retryWait: async () => {},
        shouldRetry: () => true,
        on: {
          connected: () => {
            connections += 1;
          },
          ping(received, payload) {
            const cursor = (payload as { cursor?: string } | undefined)?.cursor;
            if (received && cursor !== undefined) after = cursor;
          },
        },
      });
      clients.push(client);
      const payload = {
        query,
        get variables() {
          return { after };
        },
      };
      client.subscribe<Published>(payload, {
        next({ data, extensions }) {
          seen.push(data?.articlePublished.article.title ?? '');
          after = (extensions as { cursor: string }).cursor;
        },
        error: (error) => refusals.push(error),
        complete: () => {},
      });
      return { seen, refusals, connections: () => connections, cursor: () => after };
    };
  });

const CLIENTS = 6;
const ROUND = 5;

test('sockets behind the ingress bring every event to all, and mutations of one reach those of the other process', async ({
  ada,
  follow,
  publishing,
  socketUrl,
}) => {
  const followers = Array.from({ length: CLIENTS }, () => follow());
  for (const { cursor } of followers) await until(cursor, (given) => given !== undefined);
  const next = numbered('Through nginx');
  const published: string[] = [];
  for (let count = 0; count < ROUND; count += 1) {
    const title = next();
    published.push(title);
    await publishing.publish(title);
  }
  const client = createClient({
    url: socketUrl,
    webSocketImpl: WebSocket,
    connectionParams: { Authorization: `Bearer ${ada.token}` },
  });
  const create = 'mutation { createPost(input: { title: "By socket", body: "", publish: true }) { id } }';
  for await (const { errors } of client.iterate({ query: create })) expect(errors).toBeUndefined();
  await client.dispose();
  published.push('By socket');
  for (const { seen, refusals } of followers) {
    await until(
      () => seen.length,
      (length) => length >= published.length,
    );
    expect([seen, refusals]).toEqual([published, []]);
  }
});

test('subscriptions continue on the other process after kill -9 of one, without a loss or a repetition', async ({
  ada,
  ask,
  follow,
  installation,
}) => {
  const followers = Array.from({ length: CLIENTS }, () => follow());
  for (const { cursor } of followers) await until(cursor, (given) => given !== undefined);
  const next = numbered('Killed');
  const published: string[] = [];
  const publishSome = async () => {
    for (let count = 0; count < ROUND; count += 1) {
      const title = next();
      published.push(title);
      // By the processes of `command`, which are not killed.
      const body = { title, body: '', tags: [], publish: true };
      expect(await ask('POST', '/articles', { token: ada.token, body })).toMatchObject({ status: 201 });
    }
  };
  await publishSome();
  const [one] = installation.query;
  const killed = one?.kill('SIGKILL');
  // Also while nobody has noticed yet.
  await publishSome();
  await killed;
  await publishSome();
  for (const { seen, refusals } of followers) {
    await until(
      () => seen.at(-1),
      (title) => title === published.at(-1),
    );
    expect([seen, refusals]).toEqual([published, []]);
  }
  // The clients of the killed process have connected again, and only those.
  const again = followers.filter(({ connections }) => connections() > 1).length;
  expect(again).toBeGreaterThan(0);
  expect(again).toBeLessThan(CLIENTS);
  // New ones get the process that is left.
  const late = follow();
  await until(late.cursor, (given) => given !== undefined);
  await publishSome();
  await until(
    () => late.seen.length,
    (length) => length >= ROUND,
  );
  expect([late.seen, late.refusals]).toEqual([published.slice(-ROUND), []]);
});
