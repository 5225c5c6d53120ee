// Over 200 lines, because every patch is sent to the one command side that is set up here.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ARTICLE, createWriteApi, make, type WriteApi, type Written } from '../../test/engines/write-api.ts';

let api: WriteApi;
beforeAll(async () => {
  api = await createWriteApi();
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
});

const patch = (path: string, body: unknown, { headers, ...more }: Omit<Written, 'body'> = {}) =>
  api.send('PATCH', path, {
    body,
    headers: { 'Content-Type': 'application/json-patch+json', ...headers },
    ...more,
  });
const test_ = (path: string, value: unknown) => ({ op: 'test', path, value });
const article = async (more: object = {}) =>
  `/articles/${await make(api, '/articles', { ...ARTICLE, ...more })}`;
const events = async () => api.side.eventLog.head();

test('a JSON patch applies its operations after its tests', async () => {
  const path = await article();
  const answer = await patch(path, [
    test_('/title', ARTICLE.title),
    test_('/tags', ['engines']),
    { op: 'add', path: '/tags/-', value: 'looms' },
    { op: 'replace', path: '/title', value: 'On looms' },
    { op: 'add', path: '/cover', value: 'https://example.com/a.png' },
  ]);
  expect(answer).toMatchObject({ status: 200, body: { version: 2 } });
  const now = [
    test_('/title', 'On looms'),
    test_('/tags', ['engines', 'looms']),
    test_('/cover', 'https://example.com/a.png'),
  ];
  expect(await patch(path, now)).toMatchObject({ status: 200, body: { version: 2 } });
  const fixed = [
    test_('/id', Number(path.split('/')[2])),
    test_('/status', 'draft'),
    test_('/author/id', api.author.id),
  ];
  expect(await patch(path, fixed)).toMatchObject({ status: 200, body: { version: 2 } });
  expect(
    await patch(path, [{ op: 'replace', path: '', value: { ...ARTICLE, status: 'published' } }]),
  ).toMatchObject({
    status: 200,
    body: { version: 3 },
  });
  expect(await patch(path, [test_('/cover', null)])).toMatchObject({ status: 200, body: { version: 3 } });
});

describe('is refused as a whole, without any change,', () => {
  const replaced = { op: 'replace', path: '/title', value: 'Two' };
  test.each<[string, unknown, number, object]>([
    [
      'where a test fails',
      [replaced, test_('/title', 'Three')],
      409,
      { code: 'patch_test_failed', details: { operation: 1 } },
    ],
    [
      'where a path is not there',
      [replaced, { op: 'remove', path: '/tags/5' }],
      422,
      { code: 'patch_not_applicable', details: { operation: 1 } },
    ],
    ['where the whole would go', [{ op: 'remove', path: '' }], 422, { code: 'patch_not_applicable' }],
    [
      'where it makes a bomb',
      Array.from({ length: 100 }, (_, at) => ({ op: 'copy', from: '', path: `/${at}` })),
      422,
      { code: 'patch_not_applicable' },
    ],
    [
      'where the item would be invalid',
      [{ ...replaced, value: ' ' }],
      422,
      { code: 'invalid_request', errors: [{ pointer: '/title' }] },
    ],
    [
      'where a field would be missing',
      [{ op: 'remove', path: '/body' }],
      422,
      { code: 'invalid_request', errors: [{ pointer: '/body' }] },
    ],
    [
      'where an item would be wrong',
      [{ op: 'add', path: '/tags/0', value: 'A B' }],
      422,
      { code: 'invalid_request', errors: [{ pointer: '/tags/0' }] },
    ],
    [
      'where a field would be too many',
      [{ op: 'add', path: '/status', value: 'published' }],
      422,
      { code: 'invalid_request', errors: [{ pointer: '/status' }] },
    ],
    [
      'where what it tests is not known to the command side',
      [test_('/createdAt', '2026-01-02T03:04:05.678Z')],
      422,
      { code: 'patch_not_applicable', details: { operation: 0, reason: 'not_comparable' } },
    ],
    [
      'where another id would be given',
      [{ op: 'replace', path: '/id', value: 1 }],
      422,
      { errors: [{ pointer: '/id' }] },
    ],
    [
      'where the item would be something else',
      [{ op: 'add', path: '', value: [] }],
      422,
      { code: 'invalid_request', errors: [{ pointer: '' }] },
    ],
    [
      'where a prototype would be reached',
      [{ op: 'add', path: '/__proto__/status', value: 'x' }],
      422,
      { code: 'patch_not_applicable' },
    ],
    [
      'where a prototype would be added',
      [{ op: 'add', path: '/__proto__', value: {} }],
      422,
      { code: 'invalid_request', errors: [{ pointer: '/__proto__' }] },
    ],
    [
      'where an operation is unknown',
      [{ op: 'increment', path: '/title' }],
      422,
      { code: 'invalid_request', errors: [{ pointer: '/0/op' }] },
    ],
    [
      'where a pointer is none',
      [{ op: 'remove', path: 'title' }],
      422,
      { code: 'invalid_request', errors: [{ pointer: '/0/path' }] },
    ],
    ['where a value is missing', [{ op: 'add', path: '/title' }], 422, { code: 'invalid_request' }],
    [
      'where operations are too many',
      Array.from({ length: 101 }, () => replaced),
      422,
      { code: 'invalid_request' },
    ],
    [
      'where it is a merge patch',
      { title: 'Two' },
      422,
      { code: 'invalid_request', errors: [{ pointer: '' }] },
    ],
  ])('%s', async (_, body, status, problem) => {
    const path = await article();
    const head = await events();
    expect(await patch(path, body)).toMatchObject({ status, body: problem });
    expect(await events()).toBe(head);
  });
});

describe('reveals nothing that the caller cannot read', () => {
  const guesses = [
    [test_('/title', ARTICLE.title)],
    [test_('/title', 'Wrong')],
    [{ op: 'remove', path: '/tags/7' }],
  ];

  test.each(guesses.flat())('another’s draft: %j', async (guess) => {
    const path = await article();
    const other = { id: api.reader.id, role: 'author' };
    expect(await patch(path, [guess], { by: other })).toMatchObject({
      status: 404,
      body: { code: 'article_not_found' },
    });
  });

  test('another’s e-mail address', async () => {
    const path = `/users/${await make(api, '/users', { name: 'Ada', email: 'ada@example.com' }, api.admin)}`;
    for (const email of ['ada@example.com', 'eve@example.com'])
      expect(await patch(path, [test_('/email', email)])).toMatchObject({
        status: 403,
        body: { code: 'forbidden' },
      });
  });

  test.each([
    [{ op: 'test', path: '/email', value: null }],
    [{ op: 'copy', from: '/email', path: '/name' }],
    [{ op: 'move', from: '/email', path: '/name' }],
  ])('their own article, to a token that may only write: %j', async (operation) => {
    const by = { ...api.author, scope: 'write:users' };
    const refused = { status: 403, body: { code: 'insufficient_scope', details: { scope: 'read:users' } } };
    expect(await patch(`/users/${api.author.id}`, [operation], { by })).toMatchObject(refused);
    expect(
      await patch(`/users/${api.author.id}`, [{ op: 'replace', path: '/name', value: 'Ada' }], { by }),
    ).toMatchObject({
      status: 200,
    });
  });

  test.each([
    { op: 'remove', path: '/tags/0' },
    { op: 'remove', path: '/tags/7' },
    { op: 'replace', path: '/tags/0', value: 'x' },
    { op: 'add', path: '/tags/1', value: 'x' },
  ])('the number of tags, to a token that may only write: %j', async (operation) => {
    const by = { ...api.author, scope: 'write:articles' };
    const refused = {
      status: 403,
      body: { code: 'insufficient_scope', details: { scope: 'read:articles' } },
    };
    expect(await patch(await article(), [operation], { by })).toMatchObject(refused);
  });

  test('changes since the version that the caller names', async () => {
    const path = await article();
    await patch(path, [{ op: 'replace', path: '/title', value: 'Two' }]);
    for (const title of ['Two', 'Three'])
      expect(await patch(path, [test_('/title', title)], { headers: { 'If-Match': '"1-a"' } })).toMatchObject(
        { status: 412 },
      );
  });
});

test('a patched address is claimed like any other', async () => {
  await make(api, '/users', { name: 'Ada', email: 'claimed@example.com' }, api.admin);
  const path = `/users/${api.reader.id}`;
  const claim = [{ op: 'add', path: '/email', value: 'claimed@example.com' }];
  expect(await patch(path, claim, { by: api.admin })).toMatchObject({
    status: 409,
    body: { code: 'email_taken' },
  });
});

test('a role may be changed only with the right, and sent unchanged by anyone', async () => {
  const path = `/users/${api.author.id}`;
  expect(await patch(path, [{ op: 'replace', path: '/role', value: 'admin' }])).toMatchObject({
    status: 403,
    body: { code: 'forbidden' },
  });
  expect(await patch(path, [{ op: 'replace', path: '/role', value: 'author' }])).toMatchObject({
    status: 200,
  });
  expect(
    await patch(path, [{ op: 'replace', path: '/role', value: 'admin' }], { by: api.admin }),
  ).toMatchObject({ status: 200 });
});

test('a deleted comment cannot be patched', async () => {
  const path = `/comments/${await make(api, `${await article({ publish: true })}/comments`, { text: 'One' })}`;
  await api.send('DELETE', path);
  expect(await patch(path, [test_('/text', 'One')])).toMatchObject({
    status: 404,
    body: { code: 'comment_deleted' },
  });
});
