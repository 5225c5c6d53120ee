import { pino } from 'pino';
import { test as base, describe, expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import type { Clients } from './clients.ts';
import { withDocuments } from './document-clients.ts';
import { NoDocument } from './fetch-document.ts';

const HOUR_MS = 3_600_000;
const ID = 'https://agent.example/client.json';
const good = async (id: string): Promise<unknown> => ({
  client_id: id,
  client_name: 'Helper',
  redirect_uris: ['https://agent.example/callback'],
});
const down = async (): Promise<never> => {
  throw new TypeError('fetch failed');
};
const gone = async (): Promise<never> => {
  throw new NoDocument('The answer is 404.');
};
const UNAVAILABLE = { code: 'unavailable' };

/** The hosts of documents, which tests let fail. */
const test = base.extend('world', async () => {
  const asked: string[] = [];
  const clock = createTestClock();
  const hosts: { answer: (id: string) => Promise<unknown>; mayFetch: boolean } = {
    answer: good,
    mayFetch: true,
  };
  const blocked = new Map<string, boolean>();
  const registered = {
    find: async (clientId: string) =>
      blocked.has(clientId) ? { clientId, disabled: blocked.get(clientId) } : undefined,
  } as unknown as Pick<Clients, 'find'>;
  const { find } = withDocuments(registered as Clients, {
    domain: publishing,
    origins: 'any',
    documents: {
      fetch(id) {
        asked.push(id);
        return hosts.answer(id);
      },
    },
    mayFetch: async () => hosts.mayFetch,
    log: pino({ level: 'silent' }),
    clock,
  });
  return { asked, blocked, clock, hosts, find };
});

describe('a document', () => {
  test('is blocked by a disabled client with its address, and by no other', async ({ world }) => {
    const { asked, blocked, find } = world;
    expect(await find(ID)).toMatchObject({ name: 'Helper', disabled: false });
    blocked.set(ID, true);
    expect(await find(ID)).toEqual({ clientId: ID, disabled: true });
    blocked.set(ID, false);
    expect(await find(ID)).toMatchObject({ name: 'Helper', disabled: false });
    // Such an id never comes from anywhere but a document.
    blocked.set('https://agent.example/a/../b', false);
    expect(await find('https://agent.example/a/../b')).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  test('is read once for all, and again after ten minutes', async ({ world }) => {
    const { asked, clock, find } = world;
    await Promise.all([find(ID), find(ID)]);
    await clock.advance(599_000);
    await find(ID);
    expect(asked).toHaveLength(1);
    await clock.advance(2_000);
    expect(await find(ID)).toMatchObject({ clientId: ID });
    expect(asked).toHaveLength(2);
  });

  test('counts for a day while its host fails, and the host is asked every ten seconds at most', async ({
    world,
  }) => {
    const { asked, clock, find, hosts } = world;
    await find(ID);
    hosts.answer = down;
    await clock.advance(HOUR_MS);
    for (const _ of [1, 2, 3]) expect(await find(ID)).toMatchObject({ clientId: ID });
    expect(asked).toHaveLength(2);
    await clock.advance(24 * HOUR_MS);
    await expect(find(ID)).rejects.toMatchObject(UNAVAILABLE);
    hosts.answer = good;
    await clock.advance(11_000);
    expect(await find(ID)).toMatchObject({ clientId: ID });
  });

  test('that is gone is no client any more', async ({ world }) => {
    const { clock, find, hosts } = world;
    await find(ID);
    hosts.answer = gone;
    await clock.advance(HOUR_MS);
    expect(await find(ID)).toBeUndefined();
    hosts.answer = down;
    await clock.advance(11_000);
    await expect(find(ID)).rejects.toMatchObject(UNAVAILABLE);
  });

  test('that is not known yet is unavailable while its host fails, and found right after', async ({
    world,
  }) => {
    const { clock, find, hosts } = world;
    hosts.answer = down;
    await expect(find(ID)).rejects.toMatchObject(UNAVAILABLE);
    hosts.answer = good;
    await clock.advance(11_000);
    expect(await find(ID)).toMatchObject({ clientId: ID });
  });

  test('is kept whatever the number of others that fail', async ({ world }) => {
    const { asked, find, hosts } = world;
    await find(ID);
    hosts.answer = gone;
    for (let at = 0; at < 2_000; at += 1) await find(`https://evil.example/${at}`);
    expect(await find(ID)).toMatchObject({ clientId: ID });
    expect(asked.filter((each) => each === ID)).toHaveLength(1);
  });
});

test('a full queue is a temporary failure of each request, not of the client', async ({ world }) => {
  const { find, hosts } = world;
  const { promise, resolve } = Promise.withResolvers<void>();
  hosts.answer = () => promise;
  const slow = Array.from({ length: 80 }, (_, at) => find(`https://slow.example/${at}`));
  await expect(find(ID)).rejects.toMatchObject(UNAVAILABLE);
  hosts.answer = good;
  resolve();
  await Promise.allSettled(slow);
  expect(await find(ID)).toMatchObject({ clientId: ID });
});

test('an address over its limit causes no fetch, and has the clients that are known', async ({ world }) => {
  const { asked, clock, find, hosts } = world;
  await find(ID);
  hosts.mayFetch = false;
  await clock.advance(HOUR_MS);
  expect(await find(ID)).toMatchObject({ clientId: ID });
  await expect(find('https://other.example/client.json')).rejects.toMatchObject(UNAVAILABLE);
  expect(asked).toEqual([ID]);
  hosts.mayFetch = true;
  expect(await find('https://other.example/client.json')).toBeDefined();
});
