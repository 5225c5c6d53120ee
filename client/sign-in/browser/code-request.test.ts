import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { Problem } from '../../problem.ts';
import { beginCodeRequest, takeAnswer } from './code-request.ts';

const KEY = 'asking';
const asked = { issuer: 'https://annals.example', clientId: 'page', redirectUri: 'https://page.example/' };
let kept: Map<string, string>;
const sessionStorage = {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, text: string) => void kept.set(key, text),
  removeItem: (key: string) => void kept.delete(key),
};
beforeEach(() => {
  kept = new Map();
});

const begin = async (more = {}) =>
  new URL(
    await beginCodeRequest({ sessionStorage }, KEY, {
      ...asked,
      returnTo: 'https://page.example/articles/7',
      ...more,
    }),
  );
const take = (href: string) =>
  takeAnswer({ location: { href, assign: () => {} }, sessionStorage }, KEY, asked);

test('asks for a code that only this tab can use', async () => {
  const url = await begin({
    scopes: ['openid', 'read:articles'],
    thumbprint: 'abc',
    parameters: { prompt: 'login' },
  });
  const { state, verifier } = JSON.parse(kept.get(KEY) ?? '');
  expect([url.origin, url.pathname]).toEqual(['https://annals.example', '/authorize']);
  expect(Object.fromEntries(url.searchParams)).toEqual({
    response_type: 'code',
    client_id: 'page',
    redirect_uri: 'https://page.example/',
    scope: 'openid read:articles',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    dpop_jkt: 'abc',
    prompt: 'login',
    state,
  });
  expect(verifier).toMatch(/^[\w-]{43}$/);
});

test('accepts an answer once', async () => {
  const state = (await begin()).searchParams.get('state');
  const href = `https://page.example/?tag=a&code=one&state=${state}&iss=https%3A%2F%2Fannals.example`;
  expect(take(href)).toEqual({
    returnTo: 'https://page.example/articles/7',
    cleaned: 'https://page.example/?tag=a',
    answer: { code: 'one', code_verifier: expect.any(String) },
  });
  expect(take(href)?.answer).toMatchObject({ name: 'Problem', code: 'state_mismatch' });
});

test.each(['javascript:alert(1)', 'https://evil.example/', 'blob:https://page.example/1', 'https://['])(
  'an answer does not lead to %s, which somebody has put into the storage',
  async (returnTo) => {
    const state = (await begin({ returnTo })).searchParams.get('state');
    const href = `https://page.example/?tag=a&code=one&state=${state}&iss=https%3A%2F%2Fannals.example`;
    expect(take(href)).toMatchObject({ returnTo: 'https://page.example/?tag=a', answer: { code: 'one' } });
  },
);

test.each([
  ['no answer', 'https://page.example/?tag=a'],
  ['a code without a state', 'https://page.example/?code=one'],
  ['an answer to another page', 'https://page.example/other?code=one&state=two'],
])('%s is ignored', async (_, href) => {
  await begin();
  expect(take(href)).toBeUndefined();
});

test.each([
  ['an answer of another server', 'code=one&iss=https://evil.example', 'issuer_mismatch'],
  ['an answer of nobody', 'code=one', 'issuer_mismatch'],
  ['a refusal', 'error=access_denied&iss=https://annals.example', 'access_denied'],
])('%s is a problem', async (_, query, code) => {
  const state = (await begin()).searchParams.get('state');
  const answer = take(`https://page.example/?${query}&state=${state}`)?.answer;
  expect(answer).toBeInstanceOf(Problem);
  expect(answer).toMatchObject({ code });
});
