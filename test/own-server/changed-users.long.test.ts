// Own server: each set of parts is an installation of its own.
import { expect, test } from 'vitest';
import type { PartName } from '#kernel/registry/parts.ts';
import { until } from '../../testing/until.ts';
import { PUBLIC_URL, startWith } from '../engines/start-with-parts.ts';

test.each<readonly [string, readonly PartName[]]>([
  ['the core alone', []],
  ['the core with streams', ['streams']],
])('%s refuses the tokens of users whose role has changed, and of deleted users', async (_, parts) => {
  await using annals = await startWith(parts);
  const tokenOf = (sub: number, role: string, scope: string) =>
    annals.mint.token({ aud: PUBLIC_URL, sub: String(sub), role, scope });
  const admin = await tokenOf(1, 'admin', 'write:users read:users');
  const send = (method: string, path: string, token: string, body?: object) =>
    fetch(`${annals.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const register = async (name: string) => {
    const user = { name, email: `${name}@example.com`, role: 'customer' };
    const { id } = (await (await send('POST', '/users', admin, user)).json()) as { readonly id: number };
    return { path: `/users/${id}`, token: await tokenOf(id, 'customer', 'read:users') };
  };
  const [promoted, deleted, renamed] = [
    await register('promoted'),
    await register('deleted'),
    await register('renamed'),
  ];
  const statusOf = async ({ path, token }: typeof promoted) => {
    const response = await send('GET', path, token);
    await response.body?.cancel();
    return response.status;
  };
  for (const each of [promoted, deleted, renamed])
    await until(
      () => statusOf(each),
      (status) => status === 200,
    );
  expect((await send('PATCH', promoted.path, admin, { role: 'agent' })).ok).toBe(true);
  expect((await send('DELETE', deleted.path, admin)).ok).toBe(true);
  expect((await send('PATCH', renamed.path, admin, { name: 'Renamed' })).ok).toBe(true);
  for (const each of [promoted, deleted])
    await until(
      () => statusOf(each),
      (status) => status === 401,
    );
  expect(await statusOf(renamed)).toBe(200);
});

test('without streams, there are pages of events alone', async () => {
  await using annals = await startWith([]);
  const admin = await annals.mint.token({ aud: PUBLIC_URL, sub: '1', role: 'admin', scope: 'read:events' });
  const response = await fetch(`${annals.url}/events`, {
    headers: { authorization: `Bearer ${admin}`, accept: 'text/event-stream' },
  });
  expect(response.status).toBe(406);
  expect(await (await annals.get('/openapi.json', 'application/json')).text()).not.toContain(
    'text/event-stream',
  );
});
