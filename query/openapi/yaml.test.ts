import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { publishing } from '#domain/publishing.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { serveRoutes } from '../../test/serve.ts';
import { EXAMPLE_LOG } from '../event-types/event-types.ts';
import { openApiRoutes } from './routes.ts';
import { yamlOf } from './yaml.ts';

const OPTIONS = {
  domain: publishing,
  publicUrl: 'https://annals.example',
  issuerUrl: 'https://issuer.example',
  requireIfMatch: false,
};

/** Texts that YAML could take for something else. */
const TRICKY = fc.constantFrom(
  ...['', ' ', 'no', 'Yes', 'null', '~', '1e3', '0x10', '12:30', '2026-01-31', '- a', 'a: b', 'a #b', '# a'],
  ...[
    '|',
    '>-',
    '*a',
    '&a',
    '!a',
    '%a',
    '@a',
    '`a',
    '{a',
    '[a',
    "'a",
    '"a',
    'a:',
    'a ',
    '.inf',
    '---',
    '...',
  ],
  ...[
    'a\nb',
    'a\n\nb',
    '\na',
    'a\n',
    'a\n b',
    ' a\nb',
    'a \nb',
    'a\n---\nb',
    'a\r\nb',
    'a\tb\nc',
    '\u2028a\nb',
  ],
  ...['a\u0085b', '\ufeffa', '\u007f', '<<', '=', '__proto'],
);
const text = fc.oneof(TRICKY, fc.string(), fc.string({ unit: 'grapheme' }));
const { value } = fc.letrec<{ readonly value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => (Object.is(each, -0) ? 0 : each)),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
}));
const documents = fc.dictionary(text, value, { maxKeys: 4 });

test.each(['1.1', '1.2'] as const)('a reader of YAML %s reads the same as one of JSON', (version) => {
  const isRead = fc.property(documents, (document) => {
    const plain = JSON.parse(JSON.stringify(document)) as JsonObject;
    expect(parse(yamlOf(plain), { version })).toEqual(plain);
  });
  expect(fc.check(isRead, { numRuns: 1000 })).toMatchObject({ failed: false });
});

test('texts of several lines are blocks, and short ones have no quotes', () => {
  expect(yamlOf({ title: 'A title', says: 'One\n\nTwo: 2', list: [{ on: 'no' }, []], '200': {} })).toBe(
    '"200": {}\ntitle: A title\nsays: |-\n  One\n\n  Two: 2\nlist:\n  -\n    "on": "no"\n  - []\n',
  );
});

test.each(['', '/api'])('%s/openapi.yaml is the same document as the one in JSON', async (prefix) => {
  await using server = await serveRoutes(openApiRoutes(OPTIONS, { identity: EXAMPLE_LOG }));
  const json = await fetch(`${server.url}/openapi.json`);
  const yaml = await fetch(`${server.url}${prefix}/openapi.yaml`);
  expect([yaml.status, yaml.headers.get('content-type'), yaml.headers.get('cache-control')]).toEqual([
    200,
    'application/yaml',
    'public, no-cache',
  ]);
  expect(parse(await yaml.text())).toEqual(await json.json());
  const etag = yaml.headers.get('etag') ?? '';
  const ask = (method: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/openapi.yaml`, { method, headers });
  expect((await ask('GET', { 'If-None-Match': etag })).status).toBe(304);
  expect((await ask('GET', { 'If-Match': '"9-x"' })).status).toBe(412);
  const head = await ask('HEAD');
  expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
  const posted = await ask('POST');
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});
