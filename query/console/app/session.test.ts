import { afterEach, beforeEach, expect, test } from 'vitest';
import { type LocalServer, startLocalServer } from '../../../test/engines/local-server.ts';
import { openSession, type SignInRefused, tokensBy } from './session.ts';

/** A token endpoint that accepts each refresh token once, as ours does. */
let server: LocalServer;
let good: string;
let asked: URLSearchParams[];
beforeEach(async () => {
  asked = [];
  good = 'refresh-0';
  server = await startLocalServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const form = new URLSearchParams(body);
    asked.push(form);
    if (form.get('refresh_token') !== good) {
      response
        .writeHead(400)
        .end(JSON.stringify({ error: 'invalid_grant', error_description: 'It was used.' }));
      return;
    }
    good = `refresh-${asked.length}`;
    response.end(
      JSON.stringify({ access_token: `access-${asked.length}`, refresh_token: good, expires_in: 300 }),
    );
  });
});
afterEach(() => server[Symbol.asyncDispose]());

const endpoints = () => ({
  token: `${server.url}/token`,
  clientId: 'console',
});

const open = (expiresInSeconds: number) => {
  const left: string[] = [];
  const first = {
    access_token: 'access-0',
    refresh_token: 'refresh-0',
    id_token: 'id-0',
    expires_in: expiresInSeconds,
  };
  const session = openSession(first, {
    ...endpoints(),
    signInAgain: () => void left.push('again'),
    signOut: (idToken) => void left.push(`out ${idToken}`),
  });
  return { session, left };
};

test('a token that is valid for a while is used again', async () => {
  const { session } = open(300);
  expect(await Promise.all([session.token(), session.token()])).toEqual(['access-0', 'access-0']);
  expect(asked).toEqual([]);
});

test('a token that expires soon is renewed in advance, once for all concurrent requests', async () => {
  const { session, left } = open(30);
  expect(await Promise.all([session.token(), session.token(), session.renewed('access-0')])).toEqual([
    'access-1',
    'access-1',
    'access-1',
  ]);
  expect(await session.token()).toBe('access-1');
  expect(asked.map((form) => Object.fromEntries(form))).toEqual([
    { grant_type: 'refresh_token', refresh_token: 'refresh-0', client_id: 'console' },
  ]);
  session.signOut();
  expect(left).toEqual(['out id-0']);
});

test('a refused token is renewed, unless another request has done so meanwhile', async () => {
  const { session } = open(300);
  expect(await session.renewed('access-0')).toBe('access-1');
  expect(await session.renewed('access-0')).toBe('access-1');
  expect(asked).toHaveLength(1);
});

test('if renewal fails, the user must sign in again', async () => {
  good = 'another';
  const { session, left } = open(30);
  await expect(session.token()).rejects.toMatchObject({
    code: 'invalid_grant',
  } satisfies Partial<SignInRefused>);
  expect(left).toEqual(['again']);
});

test('an invalid answer of the token endpoint is not a refusal', async () => {
  await expect(tokensBy({ ...endpoints(), token: 'http://127.0.0.1:1/token' }, {})).rejects.toBeInstanceOf(
    TypeError,
  );
});
