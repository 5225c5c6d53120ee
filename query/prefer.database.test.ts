import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Asker, type Backend, openBackend } from '../test/engines/backend.ts';

let backend: Backend;
let author: Asker;
let admin: Asker;
beforeAll(async () => {
  backend = await openBackend({}, { visibleWithinMs: 1_000 });
  author = await backend.person('author');
  admin = await backend.person('admin');
});
afterAll(() => backend?.[Symbol.asyncDispose]());

const MINIMAL = 'return=minimal';
const REPRESENTATION = 'return=representation';
const ARTICLE = { title: 'One', body: 'x'.repeat(2_000), publish: true };
const WEBHOOK = { url: 'https://example.com/hooks', eventTypes: ['*'] };

type Write = {
  readonly body?: unknown;
  readonly prefer?: string;
  readonly by?: Asker;
  readonly headers?: Record<string, string>;
};

/** Uses plain `fetch` to see the encoding and the headers of the answer. */
const write = async (
  method: string,
  path: string,
  { body, prefer, by = author, headers = {} }: Write = {},
) => {
  const response = await fetch(`${backend.url}${path}`, {
    method,
    headers: {
      ...(await backend.authorization(by)),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(prefer !== undefined && { prefer }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
};
const read = async (path: string, headers: Record<string, string> = {}, by = author) => {
  const response = await fetch(`${backend.url}${path}`, {
    headers: { ...(await backend.authorization(by)), ...headers },
  });
  return {
    text: await response.text(),
    etag: response.headers.get('etag'),
    type: response.headers.get('content-type'),
  };
};
const make = async (path: string, body: unknown): Promise<string> => {
  const { headers } = await write('POST', path, { body });
  return String(headers.get('location'));
};

describe('return=representation', () => {
  test.each<[string, string, () => Promise<readonly [method: string, path: string, body?: unknown]>, Asker?]>(
    [
      ['an article that is made', '/articles', async () => ['POST', '/articles', ARTICLE]],
      [
        'an article that is changed',
        '/articles',
        async () => ['PATCH', await make('/articles', ARTICLE), { title: 'Two' }],
      ],
      [
        'an article that is unpublished',
        '/articles',
        async () => ['POST', `${await make('/articles', ARTICLE)}/unpublish`],
      ],
      [
        'a comment',
        '/comments',
        async () => ['POST', `${await make('/articles', ARTICLE)}/comments`, { text: 'One' }],
      ],
      ['a user', '/users', async () => ['PATCH', `/users/${author.id}`, { name: 'Another name' }]],
      ['a webhook', '/webhooks', async () => ['POST', `${await make('/webhooks', WEBHOOK)}/disable`]],
    ],
  )('answers the write to %s as its GET does', async (_, collection, request) => {
    const [method, path, body] = await request();
    const forms = { accept: 'application/hal+json', 'accept-encoding': 'gzip' };
    const answer = await write(method, path, {
      body,
      prefer: `${REPRESENTATION}; x=1, ${MINIMAL}`,
      headers: forms,
    });
    const place = String(answer.headers.get('content-location'));
    expect(place.startsWith(`${collection}/`)).toBe(true);
    expect(answer.headers.get('preference-applied')).toBe(REPRESENTATION);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('vary')).toContain('Prefer');
    expect(answer.headers.get('consistency-token')).not.toBeNull();
    expect(answer.status === 201 ? answer.headers.get('location') : place).toBe(place);
    const etag = answer.headers.get('etag');
    expect({ text: answer.text, etag, type: answer.headers.get('content-type') }).toEqual(
      await read(place, forms),
    );
    // The conditions of a write do not apply to the read after it, but its ETag is valid for both.
    const headers = { 'if-match': String(etag), 'if-none-match': '"0-"' };
    expect(
      (
        await write('DELETE', place, {
          by: collection === '/users' ? admin : author,
          prefer: REPRESENTATION,
          headers,
        })
      ).status,
    ).toBe(204);
    if (collection === '/users') author = await backend.person('author');
  });

  test('a repeated write answers with the item as it is now', async () => {
    const headers = { 'idempotency-key': 'made-once' };
    const first = await write('POST', '/articles', { body: ARTICLE, prefer: REPRESENTATION, headers });
    await write('PATCH', String(first.headers.get('location')), {
      body: { title: 'Two' },
      prefer: REPRESENTATION,
    });
    const again = await write('POST', '/articles', { body: ARTICLE, prefer: REPRESENTATION, headers });
    expect([again.status, again.headers.get('location')]).toEqual([201, first.headers.get('location')]);
    expect(JSON.parse(again.text)).toMatchObject({ title: 'Two' });
  });

  test('is not applied if the caller may not read the item, there is nothing to show, or the answer has a secret', async () => {
    const article = await make('/articles', { ...ARTICLE, publish: false });
    const writer: Asker = { ...author, scopes: ['write:articles'] };
    const cases = [
      [await write('PATCH', article, { body: { title: 'Two' }, prefer: REPRESENTATION, by: writer }), 200],
      [await write('POST', '/webhooks', { body: WEBHOOK, prefer: REPRESENTATION }), 201],
      [
        await write('PATCH', article, {
          body: { title: 'Two' },
          prefer: 'handling=strict; return=representation',
        }),
        200,
      ],
      [
        await write('PATCH', article, {
          body: { title: 'Two' },
          prefer: 'return=all, return=representation',
        }),
        200,
      ],
      [await write('DELETE', article, { prefer: REPRESENTATION }), 204],
    ] as const;
    for (const [answer, status] of cases) {
      expect([answer.status, answer.headers.get('preference-applied')]).toEqual([status, null]);
      expect(answer.headers.get('content-location')).toBeNull();
      if (status !== 204)
        expect(JSON.parse(answer.text)).toMatchObject({
          version: expect.any(Number),
          cursor: expect.any(String),
        });
    }
    expect(JSON.parse(cases[1][0].text)).toHaveProperty('secret');
  });

  test('is not applied while the projector lags: the write is done', async () => {
    const article = await make('/articles', ARTICLE);
    await backend.stopProjector();
    const answer = await write('PATCH', article, { body: { title: 'Two' }, prefer: REPRESENTATION });
    await backend.startProjector();
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([200, null]);
    expect(JSON.parse(answer.text)).toMatchObject({ version: 3 });
  });
});

describe('return=minimal', () => {
  test('a change answers without a body, a creation with its id only, and both with all headers', async () => {
    const made = await write('POST', '/articles', { body: ARTICLE, prefer: MINIMAL });
    const article = String(made.headers.get('location'));
    const changed = await write('PATCH', article, { body: { title: 'Two' }, prefer: ' Return = "minimal"' });
    expect([made.status, changed.status, changed.text]).toEqual([201, 204, '']);
    expect(Object.keys(JSON.parse(made.text))).toEqual(['id', 'version', 'cursor', '_links']);
    for (const { headers } of [made, changed]) {
      expect(headers.get('preference-applied')).toBe(MINIMAL);
      expect(headers.get('vary')).toContain('Prefer');
      expect(headers.get('consistency-token')).not.toBeNull();
    }
    expect([made.headers.get('etag'), changed.headers.get('etag')]).toEqual(['"2-"', '"3-"']);
  });

  test('is not applied to an answer with a secret', async () => {
    const made = await write('POST', '/webhooks', { body: WEBHOOK, prefer: MINIMAL });
    const rotated = await write('POST', `${made.headers.get('location')}/rotate-secret`, { prefer: MINIMAL });
    for (const { headers, text } of [made, rotated]) {
      expect(headers.get('preference-applied')).toBeNull();
      expect(JSON.parse(text)).toHaveProperty('secret');
    }
  });
});
