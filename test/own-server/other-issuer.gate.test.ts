// Own server: an installation without an authorization server of its own.
import { expect, test } from 'vitest';
import { runAnnals } from '../annals-process.ts';
import { createDatabase } from '../engines/database.ts';
import { HELPDESK, PUBLIC_URL, startWith } from '../engines/start-with-parts.ts';
import { createTokenMint, ISSUER } from '../token-mint.ts';

test('the core alone serves the domain of a new project over REST, with tokens of another issuer', async () => {
  await using annals = await startWith([], 'create/template/domain/domain.ts');
  const send = async (method: string, path: string, { token = '', body = {} } = {}) => {
    const response = await fetch(`${annals.url}${path}`, {
      method,
      headers: {
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...(method !== 'GET' && { 'content-type': 'application/json', prefer: 'return=representation' }),
      },
      ...(method !== 'GET' && { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as never };
  };
  const tokenOf = (sub: number, role: string, scope: string) =>
    annals.mint.token({ aud: PUBLIC_URL, sub: String(sub), role, scope });
  const admin = await tokenOf(1, 'admin', 'read:users write:users');
  const ada = { name: 'Ada', email: 'ada@example.com', role: 'member' };
  const registered = await send('POST', '/users', { token: admin, body: ada });
  expect(registered).toMatchObject({ status: 201, body: { name: 'Ada' } });
  const { id } = registered.body as { readonly id: number };
  const token = await tokenOf(id, 'member', 'read:notes write:notes');
  const note = { title: 'On engines', text: 'They weave.' };
  const created = await send('POST', '/notes', { token, body: note });
  expect(created).toMatchObject({ status: 201, body: { ...note, status: 'draft' } });
  const path = `/notes/${(created.body as { readonly id: number }).id}`;
  expect((await send('GET', path)).status).toBe(404);
  expect((await send('GET', path, { token })).status).toBe(200);
  expect((await send('POST', `${path}/publish`, { token })).status).toBe(200);
  expect(await send('GET', path)).toMatchObject({ status: 200, body: { ...note, status: 'published' } });

  const refused = await send('POST', '/notes', { body: note });
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining(`resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource"`),
  ]);
  expect(await send('GET', '/.well-known/oauth-protected-resource')).toMatchObject({
    status: 200,
    body: { resource: PUBLIC_URL, authorization_servers: [ISSUER] },
  });
  const forged = await (await createTokenMint()).token({ aud: PUBLIC_URL });
  expect((await send('GET', path, { token: forged })).status).toBe(401);
  expect((await send('GET', path, { token: `annals_pat_${'x'.repeat(43)}` })).status).toBe(401);
});

test.each([
  [
    'nobody who issues tokens',
    '',
    'Nobody issues tokens for this installation: set ISSUER_URL to the address of an authorization server, or add accounts() to its parts.\n',
  ],
  [
    'a part without another that it needs',
    'console',
    'console() needs accounts(): add it to the parts, or remove console().\n',
  ],
])('a start with %s is refused with one sentence', async (_, parts, sentence) => {
  await using database = await createDatabase();
  expect(
    await runAnnals(['test/toy/parts-main.ts'], {
      PARTS: parts,
      DOMAIN_FILE: HELPDESK,
      DATABASE_URL: database.url,
    }),
  ).toEqual({ exit: expect.any(Number), output: sentence });
});
