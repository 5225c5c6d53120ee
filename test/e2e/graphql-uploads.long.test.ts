// Over 200 lines, because every case uses the one installation that is set up here.
import { describe, expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { createGraphqlUploads, type Form, formOf, PREFLIGHT, SET_COVER } from '../engines/graphql-uploads.ts';
import { sharedTest } from '../engines/installation-fixture.ts';
import { type PictureType, picture } from '../engines/pictures.ts';

const test = sharedTest.extend('uploads', { scope: 'file' }, ({ installation }) =>
  createGraphqlUploads(installation),
);

/** Each test has its own post. */
let id: string;
test.beforeEach(async ({ uploads }) => {
  id = await uploads.post();
});

const file = (bytes = 1_000, type: PictureType = 'image/png') =>
  new File([picture(type, bytes) as never], 'a b.png', { type });
const cover = (content: Blob, variables: object = {}): Form =>
  formOf(SET_COVER, { id, file: null, ...variables }, { 'variables.file': content });

describe('a file of a mutation', () => {
  test.for([1_000, 3_000_000, 10 * 1_048_576])(
    'of %i bytes becomes the cover of the post, and can be read',
    async (bytes, { uploads }) => {
      const content = file(bytes);
      const { data } = await uploads.send(cover(content));
      const set = data?.setPostCover as { cover: string; version: number };
      expect(set).toMatchObject({ id, cover: expect.stringMatching(/^\/uploads\/.+\.png$/), version: 2 });
      expect(await uploads.stored()).toEqual([set.cover.replace('/uploads/', '')]);
      const read = await uploads.ask('GET', set.cover, { token: uploads.author.token });
      expect(read.headers.get('content-length')).toBe(String(bytes));
    },
  );

  test.for(['', 'application/octet-stream', 'text/plain'])(
    'sent as %j has the type of its bytes',
    async (type, { uploads }) => {
      const { data } = await uploads.send(cover(new Blob([picture('image/webp', 2_000) as never], { type })));
      expect(data).toMatchObject({ setPostCover: { cover: expect.stringMatching(/\.webp$/) } });
    },
  );

  test('without a media type in its part gets that of its bytes', async ({
    graphqlUrl,
    installation,
    uploads,
  }) => {
    const operations = JSON.stringify({ query: SET_COVER, variables: { id, file: null } });
    const part = (head: string, content: string | Buffer) => [
      `--cut\r\nContent-Disposition: form-data; ${head}\r\n\r\n`,
      content,
      '\r\n',
    ];
    const parts = [
      ...part('name="operations"', operations),
      ...part('name="map"', '{"0":["variables.file"]}'),
      ...part('name="0"; filename="x"', picture('image/gif', 2_000)),
      '--cut--\r\n',
    ];
    const response = await installation.fetch(graphqlUrl, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${uploads.author.token}`,
        ...PREFLIGHT,
        'content-type': 'multipart/form-data; boundary=cut',
      },
      body: Buffer.concat(parts.map((each) => Buffer.from(each as string))) as never,
    });
    expect(await response.json()).toMatchObject({
      data: { setPostCover: { cover: expect.stringMatching(/\.gif$/) } },
    });
  });

  test('can be sent with others in one request, each for its own post, and the cover is removed again', async ({
    uploads,
  }) => {
    const other = await uploads.post();
    const query =
      'mutation ($a: Upload!, $b: Upload!, $x: ID!, $y: ID!) { one: setPostCover(id: $x, file: $a) { cover } two: setPostCover(id: $y, file: $b) { cover } }';
    const files = {
      'variables.a': file(500_000),
      'variables.b': file(2_000, 'image/gif').slice(0, 2_000, 'image/gif'),
    };
    const { data } = await uploads.send(formOf(query, { x: id, y: other, a: null, b: null }, files));
    expect(data).toMatchObject({
      one: { cover: expect.stringMatching(/png$/) },
      two: { cover: expect.stringMatching(/gif$/) },
    });
    const removed = await uploads.ask('POST', '/graphql', {
      token: uploads.author.token,
      body: { query: 'mutation ($id: ID!) { removePostCover(id: $id) { cover } }', variables: { id } },
    });
    expect(removed.body).toMatchObject({ data: { removePostCover: { cover: null } } });
  });

  test.for(['../../x.png', '..\\x.png', '/etc/x.png', 'a\r\nX-Evil: yes.png', 'a";x="b.png', '.htaccess'])(
    'is not called what its sender calls it: %j',
    async (name, { uploads }) => {
      const { data } = await uploads.send(
        cover(new File([picture('image/png', 1_000) as never], name, { type: 'image/png' })),
      );
      const path = (data?.setPostCover as { cover: string } | undefined)?.cover ?? '';
      expect(path).toMatch(/^\/uploads\/[\w-]+\.png$/);
      expect(await uploads.stored()).toEqual([path.replace('/uploads/', '')]);
    },
  );

  test.for(['Apollo-Require-Preflight', 'X-Apollo-Operation-Name'])(
    'may come with %s',
    async (header, { uploads }) => {
      expect(await uploads.send(cover(file()), { headers: { [header]: 'x' } })).toMatchObject({
        status: 200,
        code: undefined,
      });
    },
  );
});

describe('a refusal leaves nothing behind', () => {
  const operations = (variables: object = { id, file: null }) =>
    ['operations', JSON.stringify({ query: SET_COVER, variables })] as const;
  const map = (value: unknown) => ['map', typeof value === 'string' ? value : JSON.stringify(value)] as const;
  const standard = map({ 0: ['variables.file'] });
  const one = ['0', file(200_000)] as const;
  const MALFORMED: readonly (readonly [string, () => Form])[] = [
    ['files before operations', () => [one, operations(), standard]],
    ['files before map', () => [operations(), one, standard]],
    ['map before operations', () => [standard, operations(), one]],
    ['operations alone', () => [operations()]],
    ['no operations', () => [standard, one]],
    ['operations twice', () => [operations(), operations(), standard, one]],
    ['a field after map', () => [operations(), standard, operations(), one]],
    ['another map', () => [operations(), standard, standard, one]],
    ['an unknown field after map', () => [operations(), standard, ['more', 'x'], one]],
    ['nothing', () => []],
    ['operations that are no JSON', () => [['operations', '{'], standard, one]],
    ['a map that is no JSON', () => [operations(), map('{'), one]],
    ['a map that is a list', () => [operations(), map([['variables.file']]), one]],
    ['a map without paths', () => [operations(), map({ 0: [] }), one]],
    ['a map of texts', () => [operations(), map({ 0: 'variables.file' }), one]],
    ['a path that leads nowhere', () => [operations(), map({ 0: ['variables.other'] }), one]],
    ['a path that is empty', () => [operations(), map({ 0: [''] }), one]],
    ['a path through a text', () => [operations(), map({ 0: ['query.length'] }), one]],
    ['a path to what is no null', () => [operations(), map({ 0: ['variables.id'] }), one]],
    ['a path through __proto__', () => [operations(), map({ 0: ['__proto__.polluted'] }), one]],
    ['a path to __proto__', () => [operations(), map({ 0: ['variables.__proto__'] }), one]],
    [
      'a path through a constructor',
      () => [operations(), map({ 0: ['variables.constructor.prototype.x'] }), one],
    ],
    [
      'two files at one path',
      () => [operations(), map({ 0: ['variables.file'], 1: ['variables.file'] }), one, ['1', file()]],
    ],
    [
      'eleven files',
      () => [
        operations(),
        map(Object.fromEntries(Array.from({ length: 11 }, (_, n) => [n, [`variables.${n}`]]))),
        one,
      ],
    ],
    ['a list of operations', () => [['operations', '[{"query":null}]'], map({ 0: ['0.query'] }), one]],
  ];
  test.for(MALFORMED)('%s', async ([_name, form], { uploads }) => {
    expect(await uploads.send(form())).toMatchObject({
      status: 400,
      code: expect.stringMatching(/^malformed_(request|body)$/),
      data: null,
    });
    await uploads.nothingStored();
    expect({}).not.toHaveProperty('polluted');
  });

  test('too large operations or map', async ({ uploads }) => {
    const large = JSON.stringify({
      query: SET_COVER,
      variables: { id, file: null, more: 'x'.repeat(1_100_000) },
    });
    expect(await uploads.send([['operations', large], standard, one])).toMatchObject({
      status: 413,
      code: 'body_too_large',
    });
    expect(await uploads.send([operations(), map(large), one])).toMatchObject({
      status: 413,
      code: 'body_too_large',
    });
  });

  test('a form that any page can send', async ({ uploads }) => {
    expect(await uploads.send(cover(file(300_000)), { headers: {} })).toMatchObject({
      status: 400,
      code: 'preflight_required',
    });
    await uploads.nothingStored();
  });

  const FIELDS: readonly (readonly [string, () => Form, string])[] = [
    ['a file that is too large', () => cover(file(10 * 1_048_576 + 1)), 'body_too_large'],
    ['a file that is empty', () => cover(new File([], 'a.png', { type: 'image/png' })), 'invalid_request'],
    [
      'a type that is none of ours',
      () => cover(new File(['<svg/>'], 'a.svg', { type: 'image/svg+xml' })),
      'unsupported_media_type',
    ],
    [
      'bytes of another type',
      () => cover(new File(['not a picture'], 'a.png', { type: 'image/png' })),
      'unsupported_media_type',
    ],
    ['bytes of no picture, and no type', () => cover(new Blob(['not a picture'])), 'unsupported_media_type'],
    ['another version', () => cover(file(100_000), { v: 7 }), 'version_mismatch'],
    ['a post that is not there', () => cover(file(100_000), { id: '1' }), 'article_not_found'],
    ['a file that does not come', () => [operations(), standard], 'malformed_request'],
    [
      'a file under another name',
      () => [operations(), standard, ['file', file(100_000)]],
      'malformed_request',
    ],
  ];
  test.for(FIELDS)('%s', async ([_name, form, code], { uploads }) => {
    expect(await uploads.send(form())).toMatchObject({ status: 200, code, data: null });
    await uploads.nothingStored();
  });

  test('a file for two places, and files in another order than that of the fields', async ({ uploads }) => {
    const query =
      'mutation ($a: Upload!, $b: Upload!, $id: ID!) { one: setPostCover(id: $id, file: $b) { id } two: setPostCover(id: $id, file: $a) { id } }';
    const files = { 'variables.a': file(2_000), 'variables.b': file(300_000) };
    expect(await uploads.send(formOf(query, { id, a: null, b: null }, files))).toMatchObject({
      code: 'malformed_request',
      data: null,
    });
    const twice: Form = [
      ['operations', JSON.stringify({ query, variables: { id, a: null, b: null } })],
      map({ 0: ['variables.a', 'variables.b'] }),
      ['0', file()],
    ];
    expect(await uploads.send(twice)).toMatchObject({ code: 'malformed_request' });
  });

  test('callers without the right, before any of the file is read', async ({ uploads }) => {
    const content = file(5_000_000);
    expect(await uploads.send(cover(content), { token: null })).toMatchObject({
      code: 'unauthenticated',
      status: 401,
    });
    expect(await uploads.send(cover(content), { token: uploads.reader.token })).toMatchObject({
      code: 'article_not_found',
    });
    await uploads.nothingStored();
  });

  test('files that no field asks for', async ({ uploads }) => {
    const query =
      'mutation ($id: ID!, $file: Upload!) { publishPost(id: $id) { id } setPostCover(id: $id, file: $file) @skip(if: true) { id } }';
    expect(
      await uploads.send(formOf(query, { id, file: null }, { 'variables.file': file(5_000_000) })),
    ).toMatchObject({
      status: 200,
      code: undefined,
    });
    await uploads.nothingStored();
    const read = 'query ($file: Upload) { __typename me @skip(if: true) { id } }';
    expect(
      await uploads.send(formOf(read, { file: null }, { 'variables.file': file(5_000_000) })),
    ).toMatchObject({
      code: 'invalid_document',
    });
  });

  test('an invalid upload', async ({ uploads }) => {
    const { body } = await uploads.ask('POST', '/graphql', {
      token: uploads.author.token,
      headers: PREFLIGHT,
      body: { query: SET_COVER, variables: { id, file: { name: 'x' } } },
    });
    expect(body).toMatchObject({ errors: [{ extensions: { code: 'invalid_variables' } }] });
  });

  test('a client that disconnects in the middle', async ({ uploads }) => {
    const boundary = 'b-0-u-n-d';
    const part = (head: string, content: string | Buffer) =>
      Buffer.concat([
        Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
        Buffer.from(content as string),
      ]);
    const socket = await uploads.begin(boundary);
    socket.write(part('name="operations"', `${operations()[1]}\r\n`));
    socket.write(part('name="map"', `${standard[1]}\r\n`));
    socket.write(
      part('name="0"; filename="a.png"\r\nContent-Type: image/png', picture('image/png', 300_000)),
    );
    await until(uploads.stored, (files) => files.length === 1);
    socket.destroy();
    await uploads.nothingStored();
    const { body } = await uploads.ask('GET', `/articles/${id}`, { token: uploads.author.token });
    expect(body).toMatchObject({ cover: null });
  });
});
