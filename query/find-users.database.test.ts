import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Asker, type Backend, openBackend } from '../test/engines/backend.ts';
import { registerUser } from '../test/engines/command-side.ts';

let world: Backend;
let admin: Asker;
let reader: Asker;
beforeAll(async () => {
  world = await openBackend();
  admin = await world.person('admin', 'Operator');
  reader = await world.person('reader', 'Some 100%_reader');
  await registerUser(world.side, { name: 'Ada Lovelace', email: 'countess@example.com', role: 'author' });
  await registerUser(world.side, { name: 'Charles Babbage', email: 'ada.fan@example.com', role: 'author' });
});
afterAll(() => world?.[Symbol.asyncDispose]());

const find = async (by: Asker | null, q: string): Promise<readonly string[]> => {
  const { status, body } = await world.ask(`/users?${new URLSearchParams({ q, sort: 'createdAt' })}`, { by });
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as { name: string }[]).map(({ name }) => name);
};

test('users are found by a part of their name, in any case', async () => {
  for (const by of [admin, reader, null]) expect(await find(by, 'LOVE')).toEqual(['Ada Lovelace']);
  expect(await find(admin, 'nobody')).toEqual([]);
});

test('only callers who may read e-mail addresses find users by them', async () => {
  expect(await find(admin, 'ada')).toEqual(['Ada Lovelace', 'Charles Babbage']);
  expect(await find(admin, 'countess@')).toEqual(['Ada Lovelace']);
  for (const by of [reader, null, { ...admin, scopes: ['read:articles'] }]) {
    expect(await find(by, 'ada')).toEqual(['Ada Lovelace']);
    expect(await find(by, 'countess@')).toEqual([]);
  }
});

test('wildcards of SQL patterns are matched literally', async () => {
  for (const q of ['100%_', '%_', '_r']) expect(await find(admin, q)).toEqual(['Some 100%_reader']);
  expect(await find(admin, '\\')).toEqual([]);
});

test('next links keep the search, and a list in the past refuses one', async () => {
  const { headers } = await world.ask('/users?q=a&limit=1', { by: admin });
  expect(headers.get('link')).toMatch(/[?&]q=a[&>].*rel="next"/);
  expect((await world.ask('/users?q=', { by: admin })).status).toBe(400);
});
