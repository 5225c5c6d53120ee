import { decodeJwt } from 'jose';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { publishing } from '#domain/publishing.ts';
import { startLocalServer } from '../../test/engines/local-server.ts';
import { until } from '../../testing/until.ts';
import { createClient } from '../client.ts';
import { clientCredentials } from './client-credentials.ts';

/** Runs against a server that issues the tokens t1, t2, … and accepts those that a test has not refused. */
let open: AsyncDisposableStack;
let url: string;
let forms: { readonly form: string; readonly authorization: string | undefined }[];
let answers: { readonly status: number; readonly body: object; readonly headers?: Record<string, string> }[];
let proofs: string[];
let refused: Set<string>;
let sentWith: (string | undefined)[];
let lifetimeSeconds: number;
/** Answers of the token endpoint wait for it. */
let gate: Promise<void>;

beforeEach(async () => {
  open = new AsyncDisposableStack();
  [forms, answers, proofs, refused, sentWith, lifetimeSeconds, gate] = [
    [],
    [],
    [],
    new Set(),
    [],
    300,
    Promise.resolve(),
  ];
  const server = await startLocalServer(async (request, response) => {
    const { authorization, dpop } = request.headers;
    if (dpop !== undefined) proofs.push(String(dpop));
    const send = (status: number, body: object, headers = {}) =>
      response
        .writeHead(status, { 'Content-Type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    if (request.url !== '/token') {
      sentWith.push(authorization);
      if (refused.has(authorization ?? '')) send(401, {});
      else send(200, { id: 7 });
      return;
    }
    let form = '';
    for await (const chunk of request) form += chunk;
    forms.push({ form, authorization });
    await gate;
    const { status, body, headers } = answers.shift() ?? {
      status: 200,
      body: { access_token: `t${forms.length}`, token_type: 'Bearer', expires_in: lifetimeSeconds },
    };
    send(status, body, headers);
  });
  open.use(server);
  url = server.url;
});
afterEach(() => open.disposeAsync());

const clientOf = (options = {}) =>
  createClient<typeof publishing>({
    url,
    token: clientCredentials({ url: `${url}/`, clientId: 'robot', clientSecret: 'a:b', ...options }),
  });
const allOf = (count: number, call: () => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, call));

test('simultaneous requests share one token, and so do later ones', async () => {
  const client = clientOf({ scopes: ['read:articles', 'write:articles'] });
  await allOf(10, () => client.articles.get(7));
  await client.articles.get(7);
  expect(forms).toEqual([
    {
      form: 'grant_type=client_credentials&scope=read%3Aarticles+write%3Aarticles',
      authorization: `Basic ${btoa('robot:a%3Ab')}`,
    },
  ]);
  expect(new Set(sentWith)).toEqual(new Set(['Bearer t1']));
});

test('an expired token is renewed, once', async () => {
  lifetimeSeconds = 0;
  const client = clientOf();
  await client.articles.get(7);
  lifetimeSeconds = 300;
  await allOf(10, () => client.articles.get(7));
  expect(forms).toHaveLength(2);
  expect(sentWith).toEqual(['Bearer t1', ...Array(10).fill('Bearer t2')]);
});

test('a token that many requests find refused is renewed once', async () => {
  const client = clientOf();
  await client.articles.get(7);
  refused.add('Bearer t1');
  await allOf(10, () => client.articles.get(7));
  expect(forms).toHaveLength(2);
  refused.add('Bearer t2').add('Bearer t3');
  await expect(client.articles.get(7)).rejects.toMatchObject({ status: 401 });
  expect(forms).toHaveLength(3);
});

test('with DPoP every request has its own proof, with the nonce that the server asks for', async () => {
  answers = [
    { status: 400, body: { error: 'use_dpop_nonce' }, headers: { 'DPoP-Nonce': 'one' } },
    { status: 200, body: { access_token: 't1', token_type: 'DPoP', expires_in: 300 } },
  ];
  const client = clientOf({ dpop: true });
  await allOf(3, () => client.articles.get(7));
  expect(sentWith).toEqual(Array(3).fill('DPoP t1'));
  const told = proofs.map((proof) => decodeJwt(proof));
  expect(told.map(({ htu, nonce, ath }) => [new URL(String(htu)).pathname, nonce, typeof ath])).toEqual([
    ['/token', undefined, 'undefined'],
    ['/token', 'one', 'undefined'],
    ...Array(3).fill(['/articles/7', 'one', 'string']),
  ]);
  expect(new Set(told.map(({ jti }) => jti)).size).toBe(5);
});

test('a permanent refusal is a problem with its code, and the next request asks again', async () => {
  answers = [
    { status: 401, body: { error: 'invalid_client', error_description: 'client authentication failed' } },
  ];
  const client = clientOf();
  const failed = {
    name: 'Problem',
    code: 'invalid_client',
    status: 401,
    message: 'client authentication failed',
  };
  const settled = await Promise.allSettled([client.articles.get(7), client.articles.get(8)]);
  expect(settled).toMatchObject(Array(2).fill({ status: 'rejected', reason: failed }));
  await client.articles.get(7);
  expect(forms).toHaveLength(2);
});

test('a transient failure is retried', async () => {
  const busy = { body: { error: 'temporarily_unavailable' }, headers: { 'Retry-After': '0' } };
  answers = [
    { status: 503, ...busy },
    { status: 429, ...busy },
  ];
  await clientOf().articles.get(7);
  expect(forms).toHaveLength(3);
});

test.each([
  ['no token', { token_type: 'Bearer' }],
  ['a token of another type', { access_token: 't', token_type: 'mac' }],
  ['nothing', null as never],
])('%s is no session', async (_, body) => {
  answers = [{ status: 200, body }];
  await expect(clientOf().articles.get(7)).rejects.toMatchObject({ code: 'unexpected_answer' });
  expect(sentWith).toEqual([]);
});

test('one aborted caller does not cancel the token for the others', async () => {
  const opened = Promise.withResolvers<void>();
  gate = opened.promise;
  const client = clientOf();
  const leaving = new AbortController();
  const left = client.articles.get(7, {}, { signal: leaving.signal }).catch((error: unknown) => error);
  const staying = client.articles.get(7);
  await until(
    () => forms,
    ({ length }) => length === 1,
  );
  leaving.abort(new Error('left'));
  expect(await left).toMatchObject({ message: 'left' });
  opened.resolve();
  await staying;
  expect([forms.length, sentWith]).toEqual([1, ['Bearer t1']]);
});
