import { expect, test, vi } from 'vitest';
import { nextOf } from './base/api.ts';
import { pathOfSubject } from './base/names.ts';
import { ApiProblem, adviceOf, factsOf } from './base/problem.ts';
import { settingsOf } from './clients/settings.ts';
import { listedIn, textOf, toneOf } from './data/changes.ts';
import { base64url, challengeOf } from './sign-in.ts';
import { momentOf } from './webhooks/actions.ts';

test('the next page is requested from the page’s own origin', () => {
  expect(nextOf('</operations/orders?after=x>; rel="next", </operations/orders>; rel="first"')).toBe(
    '/operations/orders?after=x',
  );
  expect(nextOf('<https://annals.example/clients?after=x&limit=2>; rel="next"')).toBe(
    '/clients?after=x&limit=2',
  );
  expect([nextOf(null), nextOf('</events?after=x>; rel="poll"')]).toEqual([undefined, undefined]);
});

test('every problem has advice, and unknown problems refer to the log', () => {
  expect(adviceOf({ status: 403, code: 'forbidden', title: '' })).toMatch(/Ask an administrator/);
  expect(adviceOf({ status: 500, code: 'internal', title: '', requestId: 'r-1' })).toContain(
    'the request r-1',
  );
  expect(
    factsOf(
      new ApiProblem({ status: 404, code: 'order_not_found', title: 'There is no such operator command.' }),
    ).code,
  ).toBe('order_not_found');
  expect(factsOf(new TypeError('x is not a function'))).toMatchObject({
    code: 'unexpected',
    detail: 'TypeError: x is not a function',
  });
});

test('items with a history have a page', () => {
  vi.stubGlobal('document', { body: { dataset: { kinds: JSON.stringify([['article', 'articles']]) } } });
  expect(pathOfSubject('article-8001')).toBe('/console/items/articles/8001');
  expect([
    pathOfSubject('session-abc'),
    pathOfSubject('comment-8001'),
    pathOfSubject('article-x'),
    pathOfSubject(''),
  ]).toEqual(Array(4).fill(undefined));
  vi.unstubAllGlobals();
});

test('JSON values are shown in readable form', () => {
  expect([null, 'a', 3, true, ['a', 'b'], { id: 1, name: 'Ada' }].map(textOf)).toEqual([
    '',
    'a',
    '3',
    'true',
    'a, b',
    'id: 1, name: Ada',
  ]);
});

test('fields of items of lists are shown with their item', () => {
  const amount = { name: 'amount', wire: 'amount', title: 'Amount', type: 'integer' } as const;
  const list = {
    name: 'items',
    path: 'items',
    title: 'Items',
    one: 'item',
    id: 'id',
    isOrdered: false,
    fields: [amount],
    uploads: [],
  };
  expect(listedIn({ lists: [list] }, 'items.3.amount')).toEqual({ title: 'Item 3', field: amount });
  expect(listedIn({ lists: [list] }, 'items.v1.2.amount')).toEqual({ title: 'Item v1.2', field: amount });
  expect([listedIn({ lists: [list] }, 'limits.concurrency'), listedIn({ lists: [list] }, 'title')]).toEqual([
    undefined,
    undefined,
  ]);
});

test('lines of a difference have different tones', () => {
  expect(['+a', '-a', ' a', '@@ -1 +1 @@'].map(toneOf)).toEqual(['added', 'removed', '', 'hunk']);
});

test('a date alone is a time, too', () => {
  expect(['2026-11-21', '2026-11-21T15:00:00Z', 'a-1'].map(momentOf)).toEqual([
    '2026-11-21T00:00:00Z',
    '2026-11-21T15:00:00Z',
    'a-1',
  ]);
});

test('the challenge is that of RFC 7636, appendix B', async () => {
  expect(await challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).toBe(
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  );
  expect(base64url(new Uint8Array([251, 255, 254]))).toBe('-__-');
});

test('each kind of client gets the settings it needs, and no more', () => {
  const scopes = { scopes: ['read:articles'] };
  const form = {
    name: ' Robot ',
    clientId: '',
    role: 'author',
    redirects: 'https://a.example/x\n',
    ...scopes,
  };
  expect(settingsOf({ ...form, kind: 'service' })).toEqual({
    ...{
      name: 'Robot',
      grantTypes: ['client_credentials'],
      tokenEndpointAuthMethod: 'client_secret_basic',
      serviceAccountRole: 'author',
    },
    ...scopes,
  });
  expect(settingsOf({ ...form, kind: 'public' })).toEqual({
    ...{
      name: 'Robot',
      grantTypes: ['authorization_code', 'refresh_token'],
      tokenEndpointAuthMethod: 'none',
    },
    ...{ ...scopes, redirectUris: ['https://a.example/x'] },
  });
});
