import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { readArguments } from '../arguments/parser.ts';
import { REMOTE_OPTIONS } from '../remote/remote.ts';
import { argumentsOf, callOf } from './call.ts';
import { declaredOperations } from './declared.ts';
import { type ApiOperation, operationsIn } from './operations.ts';

const OPERATIONS = declaredOperations(publishing);

const operation = (wanted: string): ApiOperation => {
  const found = OPERATIONS.find(({ id }) => id === wanted);
  if (found === undefined) throw new Error(`no operation ${wanted}`);
  return found;
};

const call = (wanted: string, ...args: readonly string[]) => {
  const found = operation(wanted);
  return callOf(found, readArguments(argumentsOf(found, REMOTE_OPTIONS), args));
};

test('every operation of the document can be called: its path has all arguments', async () => {
  expect(OPERATIONS.length).toBeGreaterThan(80);
  for (const { id, fields, path } of OPERATIONS) {
    const places = fields.filter(({ place }) => place === 'path').map(({ name }) => name);
    expect(
      places.map((name) => `{${name}}`),
      id,
    ).toEqual(path.match(/\{[^}]+\}/g) ?? []);
  }
});

test('arguments become path, query and headers', async () => {
  expect(await call('getArticle', '8001', '--at', 'v3')).toEqual({
    method: 'GET',
    path: '/articles/8001',
    query: { at: 'v3' },
    headers: {},
  });
  expect(await call('publishArticle', '8001')).toEqual({
    method: 'POST',
    path: '/articles/8001/publish',
    query: {},
    headers: { 'If-Match': '*', Prefer: 'return=representation' },
  });
  expect((await call('publishArticle', '8001', '--if-match', '"3-x"')).headers).toMatchObject({
    'If-Match': '"3-x"',
  });
});

test('an answer that is no JSON is asked for by its type', async () => {
  expect((await call('getArticleProof', '8001')).headers).toEqual({ Accept: 'application/x-ndjson' });
  expect((await call('getUpload', '8001-a.png')).headers.Accept).toContain('image/png, image/jpeg');
  expect((await call('listEvents')).headers).toEqual({});
});

test('a sort may begin with a minus, and a time may be some time ago', async () => {
  expect((await call('listArticles', '--sort', '-createdAt')).query).toEqual({ sort: '-createdAt' });
  const { since } = (await call('searchDeliveries', '--since', 'yesterday')).query;
  expect(since).toMatch(/^\d{4}-\d\d-\d\dT/);
  expect((await call('searchDeliveries', '--since', '2026-11-01T00:00:00Z')).query).toEqual({
    since: '2026-11-01T00:00:00Z',
  });
});

test('fields of a body have the types of its schema', async () => {
  const { body } = await call(
    'createArticle',
    ...['--title', '42', '--body', '-', '--tags', 'one', '--tags', 'two'],
    ...['--publish', 'true', '--cover', 'null', '--authorId', '7'],
  );
  expect(body).toEqual({
    ...{ title: '42', body: '-', tags: ['one', 'two'] },
    ...{ publish: true, cover: null, authorId: 7 },
  });
  const webhook = await call(
    'createWebhook',
    ...['--url', 'https://shop.example', '--eventTypes', 'article.*', '--limits', '{"concurrency":2}'],
  );
  expect(webhook.body).toEqual({
    url: 'https://shop.example',
    eventTypes: ['article.*'],
    limits: { concurrency: 2 },
  });
});

test('a body is read from a file, and options replace its fields', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'annals-')), 'user.json');
  await writeFile(file, '{"name":"Ada","role":"author"}');
  expect((await call('createUser', '--body', file, '--name', 'Grace')).body).toEqual({
    name: 'Grace',
    role: 'author',
  });
  await writeFile(file, '[1]');
  await expect(call('createUser', '--body', file, '--name', 'Grace')).rejects.toThrow(
    '--body must be a JSON object',
  );
  await writeFile(file, '{');
  await expect(call('createUser', '--body', file)).rejects.toThrow('--body must name a file with JSON');
  await writeFile(file, '{"title":"One","body":"Long"}');
  expect((await call('createArticle', '--body-file', file, '--body', 'Short')).body).toEqual({
    title: 'One',
    body: 'Short',
  });
});

test('a picture is sent as it is', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'annals-')), 'cover.jpg');
  await writeFile(file, 'picture');
  const { body, headers } = await call('putCover', '8001', '--body', file);
  expect(headers).toMatchObject({ 'Content-Type': 'image/jpeg' });
  expect(await (body as Blob).text()).toBe('picture');
  await expect(call('putCover', '8001')).rejects.toThrow('--body is missing');
});

test.each<[string, readonly string[], string]>([
  ['getArticle', [], '<articleId> is missing'],
  ['getArticle', ['..'], '<articleId> cannot be “..”'],
  ['getArticle', ['1', '2'], 'unexpected argument: 2'],
  ['createUser', [], '--name is missing'],
  ['createUser', ['--nmae', 'Ada'], 'there is no option --nmae; did you mean --name?'],
  ['createArticle', ['--title', 'x', '--body', 'y', '--publish', 'yes'], '--publish must be true or false'],
  ['createArticle', ['--title', 'x', '--body', 'y', '--authorId', 'me'], '--authorId must be a number'],
  ['createArticle', ['--title', 'x', '--title', 'y', '--body', 'z'], '--title can be given only once'],
  ['createWebhook', ['--url', 'x', '--eventTypes', '*', '--limits', '{'], '--limits must be JSON'],
])('%s with %j is refused', async (wanted, args, message) => {
  await expect(async () => call(wanted, ...args)).rejects.toThrow(message);
});

test('an id with a slash stays one part of the path', async () => {
  expect((await call('getUpload', 'a/../../users')).path).toBe('/uploads/a%2F..%2F..%2Fusers');
});

test('no document is no list of operations', () => {
  for (const text of [null, 7, 'x', {}, { paths: { '/x': 7 } }]) expect(operationsIn(text)).toBeUndefined();
  expect(operationsIn({ paths: { '/x': { get: {}, summary: 'no operation' } } })).toEqual([]);
});
