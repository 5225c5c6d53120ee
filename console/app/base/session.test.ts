import { test as base, expect } from 'vitest';
import { startLocalServer } from '../../../test/engines/local-server.ts';
import { openSession, type SignInRefused, tokensBy } from './session.ts';

const test = base
  .extend('asked', (): URLSearchParams[] => [])
  .extend('refresh', () => ({ accepted: 'refresh-0' }))
  /** A token endpoint that accepts each refresh token once, as ours does. */
  .extend('endpoints', async ({ asked, refresh }, { onCleanup }) => {
    const server = await startLocalServer(async (request, response) => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      const form = new URLSearchParams(body);
      asked.push(form);
      if (form.get('refresh_token') !== refresh.accepted) {
        const refusal = { error: 'invalid_grant', error_description: 'It was used.' };
        response.writeHead(400).end(JSON.stringify(refusal));
        return;
      }
      const number = asked.length;
      refresh.accepted = `refresh-${number}`;
      const renewed = { access_token: `access-${number}`, refresh_token: refresh.accepted, expires_in: 300 };
      response.end(JSON.stringify(renewed));
    });
    onCleanup(() => server[Symbol.asyncDispose]());
    return { token: `${server.url}/token`, clientId: 'console' };
  })
  .extend('open', ({ endpoints }) => (expiresInSeconds: number) => {
    const left: string[] = [];
    const first = {
      access_token: 'access-0',
      refresh_token: 'refresh-0',
      id_token: 'id-0',
      expires_in: expiresInSeconds,
    };
    const session = openSession(first, {
      ...endpoints,
      signInAgain: async (refused) => {
        left.push('again');
        throw refused;
      },
      signOut: (idToken) => void left.push(`out ${idToken}`),
    });
    return { session, left };
  });

test('a token that is valid for a while is used again', async ({ asked, open }) => {
  const { session } = open(300);
  expect(await Promise.all([session.token(), session.token()])).toEqual(['access-0', 'access-0']);
  expect(asked).toEqual([]);
});

test('a token that expires soon is renewed in advance, once for all concurrent requests', async ({
  asked,
  open,
}) => {
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

test('a refused token is renewed, unless another request has done so meanwhile', async ({ asked, open }) => {
  const { session } = open(300);
  expect(await session.renewed('access-0')).toBe('access-1');
  expect(await session.renewed('access-0')).toBe('access-1');
  expect(asked).toHaveLength(1);
});

test('if renewal fails, the user must sign in again', async ({ open, refresh }) => {
  refresh.accepted = 'another';
  const { session, left } = open(30);
  await expect(session.token()).rejects.toMatchObject({
    code: 'invalid_grant',
  } satisfies Partial<SignInRefused>);
  expect(left).toEqual(['again']);
});

test('an invalid answer of the token endpoint is not a refusal', async ({ endpoints }) => {
  await expect(tokensBy({ ...endpoints, token: 'http://127.0.0.1:1/token' }, {})).rejects.toBeInstanceOf(
    TypeError,
  );
});

test('after signing in beside the page, the request continues with the new tokens', async ({
  endpoints,
  refresh,
}) => {
  refresh.accepted = 'none';
  const first = { access_token: 'access-0', refresh_token: 'refresh-0', id_token: 'id-0', expires_in: 300 };
  const ended: unknown[] = [];
  const session = openSession(first, {
    ...endpoints,
    signInAgain: async ({ code }, idToken) => {
      ended.push([code, idToken]);
      return { access_token: 'access-9', refresh_token: 'refresh-9', id_token: 'id-9', expires_in: 300 };
    },
    signOut: (idToken) => void ended.push(idToken),
  });
  expect(await Promise.all([session.renewed('access-0'), session.renewed('access-0')])).toEqual([
    'access-9',
    'access-9',
  ]);
  expect(await session.token()).toBe('access-9');
  session.signOut();
  expect(ended).toEqual([['invalid_grant', 'id-0'], 'id-9']);
});
