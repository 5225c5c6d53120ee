import { expect } from 'vitest';
import { type Asker, type Backend, test } from '../test/engines/backend.ts';
import { registerUser } from '../test/engines/command-side.ts';

let admin: Asker;
let reader: Asker;
test.beforeAll(async ({ backend }) => {
  admin = await backend.person('admin', 'Operator');
  reader = await backend.person('reader', 'Some 100%_reader');
  await registerUser(backend.side, { name: 'Ada Lovelace', email: 'countess@example.com', role: 'author' });
  await registerUser(backend.side, { name: 'Charles Babbage', email: 'ada.fan@example.com', role: 'author' });
});
const find = async (backend: Backend, by: Asker | null, q: string): Promise<readonly string[]> => {
  const { status, body } = await backend.ask(`/users?${new URLSearchParams({ q, sort: 'createdAt' })}`, {
    by,
  });
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as { name: string }[]).map(({ name }) => name);
};

test('users are found by a part of their name, in any case', async ({ backend }) => {
  for (const by of [admin, reader, null]) expect(await find(backend, by, 'LOVE')).toEqual(['Ada Lovelace']);
  expect(await find(backend, admin, 'nobody')).toEqual([]);
});

test('only callers who may read e-mail addresses find users by them', async ({ backend }) => {
  expect(await find(backend, admin, 'ada')).toEqual(['Ada Lovelace', 'Charles Babbage']);
  expect(await find(backend, admin, 'countess@')).toEqual(['Ada Lovelace']);
  for (const by of [reader, null, { ...admin, scopes: ['read:articles'] }]) {
    expect(await find(backend, by, 'ada')).toEqual(['Ada Lovelace']);
    expect(await find(backend, by, 'countess@')).toEqual([]);
  }
});

test('wildcards of SQL patterns are matched literally', async ({ backend }) => {
  for (const q of ['100%_', '%_', '_r']) expect(await find(backend, admin, q)).toEqual(['Some 100%_reader']);
  expect(await find(backend, admin, '\\')).toEqual([]);
});

test('next links keep the search, and a list in the past refuses one', async ({ backend }) => {
  const { headers } = await backend.ask('/users?q=a&limit=1', { by: admin });
  expect(headers.get('link')).toMatch(/[?&]q=a[&>].*rel="next"/);
  expect((await backend.ask('/users?q=', { by: admin })).status).toBe(400);
});
