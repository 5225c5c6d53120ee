import { Router } from 'express';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { serveRoutes } from '../../test/serve.ts';
import { readJsonBody } from './json-body.ts';
import { parseJson } from './parse-json.ts';

const refusalOf = (text: string): unknown => {
  try {
    return { parsed: parseJson(text) };
  } catch (error) {
    if (error instanceof HttpProblem) return { code: error.code, ...error.extensions };
    throw error;
  }
};

test('valid JSON is read unchanged', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      fc.pre(!text.includes('__proto__'));
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

test.each([
  '{"a":":,{[\\":"}',
  '{"a:b":1,"\\"":2,"\\\\":3}',
  '[{"a":1},{"a":1}]',
  '{"a":{"a":{"a":1}}}',
  ' { "" : "" } ',
  '"\\\\"',
  '{"A":1,"a":2}',
])('%s has no name twice', (text) => {
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

test.each([
  '{"a":1,"a":1}',
  '{"a":1,"\\u0061":2}',
  '{"":1,"":2}',
  '[0,{"b":{"a":1,"c":[":"],"a":2}}]',
  '{"constructor":1,"constructor":1}',
])('%s has one twice', (text) => {
  expect(refusalOf(text)).toEqual({ code: 'malformed_body' });
});

test.each(['', '{', '"', '"\\', '{"a":1}}', "{'a':1}", '{a:1}', 'NaN', '[1,]', '\u00a0{}'])(
  '%j is no JSON',
  (text) => {
    expect(refusalOf(text)).toEqual({ code: 'malformed_body' });
  },
);

test('`__proto__` is refused where it stands, and nothing comes by it', () => {
  const refused = (pointer: string) => ({
    code: 'invalid_request',
    errors: [{ pointer, detail: expect.any(String) }],
  });
  expect(refusalOf('{"__proto__":{"a":1}}')).toEqual(refused('/__proto__'));
  expect(refusalOf('[{"a":[{"\\u005f_proto__":null}]}]')).toEqual(refused('/0/a/0/__proto__'));
});

describe('a body that takes long to check is refused before it is parsed:', () => {
  test.each([
    ['deep lists', '['.repeat(500_000)],
    ['deep objects', '{"a":'.repeat(200_000)],
    ['many values', `[${'0,'.repeat(10_000)}0]`],
    ['many empty lists', `[${'[],'.repeat(10_000)}0]`],
  ])('%s', (_, text) => {
    expect(refusalOf(text)).toEqual({ code: 'body_too_large' });
  });

  test('but not one long text', () => {
    expect(parseJson(JSON.stringify('[{,:'.repeat(100_000)))).toHaveLength(400_000);
  });
});

const post = (url: string, content: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${url}/echo`, { method: 'POST', body: content, headers: { 'Content-Type': JSON_TYPE, ...headers } });
const echo = () =>
  Router().post('/echo', ...readJsonBody(100), (request, response) => {
    response.json(request.body ?? null);
  });
const JSON_TYPE = 'application/json';

test.each([JSON_TYPE, 'application/merge-patch+json'])('a body of the type %s is read', async (type) => {
  await using server = await serveRoutes(echo());
  const body = { title: 'One' };
  const response = await post(server.url, JSON.stringify(body), { 'Content-Type': type });
  expect(await response.json()).toEqual(body);
});

test.each<[string, string, string, Readonly<Record<string, string>>?]>([
  ['malformed JSON', '400 malformed_body', '{"title":'],
  ['a body that is too large', '413 body_too_large', JSON.stringify({ title: 'x'.repeat(200) })],
  [
    'another media type',
    '415 unsupported_media_type',
    'a=1',
    { 'Content-Type': 'application/x-www-form-urlencoded' },
  ],
  [
    'an unknown charset',
    '415 unsupported_media_type',
    '{}',
    { 'Content-Type': `${JSON_TYPE}; charset=klingon` },
  ],
  ['an unknown encoding', '415 unsupported_media_type', '{}', { 'Content-Encoding': 'zip' }],
])('%s is %s', async (_, refusal, content, headers) => {
  await using server = await serveRoutes(echo());
  const response = await post(server.url, content, headers);
  const problem = (await response.json()) as { readonly status: number; readonly code: string };
  expect(`${response.status} ${problem.code}`).toBe(refusal);
  expect(problem.status).toBe(response.status);
});
