import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { readServices } from './services.ts';

const folder = mkdtempSync(join(tmpdir(), 'annals-services-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (content: unknown): string => {
  const path = join(folder, 'compose.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

const plain = { timeoutMs: 5_000, headers: {}, forwardHeaders: [], prefix: '', schemaFile: undefined };

test('services come from a list, and receive no headers of the client', () => {
  expect(readServices('one=http://a/graphql, two=https://b:1/?x=y')).toEqual([
    { ...plain, name: 'one', url: 'http://a/graphql' },
    { ...plain, name: 'two', url: 'https://b:1/?x=y' },
  ]);
});

test('or from a file, with more settings', () => {
  const one = {
    url: 'http://a/',
    timeoutMs: 100,
    headers: { 'X-Key': 'k' },
    forwardHeaders: ['Authorization'],
    prefix: 'A_',
    schemaFile: 'a.graphql',
  };
  expect(readServices(file({ one }))).toEqual([
    {
      ...one,
      name: 'one',
      headers: { 'x-key': 'k' },
      forwardHeaders: ['authorization'],
      schemaFile: join(folder, 'a.graphql'),
    },
  ]);
});

test.each([
  'one',
  '=http://a',
  'one=ftp://a',
  'one=http://a,one=http://b',
  'o ne=http://a',
  '/nowhere/compose.json',
])('%s is refused with a message that names the setting', (setting) => {
  expect(() => readServices(setting)).toThrow(StartRefused);
  expect(() => readServices(setting)).toThrow(/^GRAPHQL_COMPOSE: /);
});

test.each<[string, unknown]>([
  ['no JSON', '{'],
  ['a list', []],
  ['a service without a URL', { one: {} }],
  ['a member that is unknown', { one: { url: 'http://a/', header: {} } }],
  ['a header of the connection', { one: { url: 'http://a/', forwardHeaders: ['Host'] } }],
  ['a time-out that is none', { one: { url: 'http://a/', timeoutMs: 0 } }],
  ['a prefix that is no name', { one: { url: 'http://a/', prefix: '__' } }],
  [
    'too many',
    Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`s${index}`, { url: 'http://a/' }])),
  ],
])('a file with %s is refused', (_what, content) => {
  expect(() => readServices(file(content))).toThrow(/^GRAPHQL_COMPOSE: /);
});
