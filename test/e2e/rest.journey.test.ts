import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { sharedTest as test } from '../engines/installation-fixture.ts';
import type { Article, Comment } from '../engines/representations.ts';

/** The first writes of a newcomer, only by HTTP. The tests depend on each other. */
const CONTENT = { title: 'On engines', body: 'An *analytical* one.', tags: ['engines', 'history'] };
let articleId: number;

describe('writing', () => {
  test('an administrator registers a user, who can be read at once', async ({
    installation,
    people,
    session: { read, write },
  }) => {
    const body = { name: 'Grace', email: `${randomUUID()}@example.com`, role: 'author' };
    const { status, headers, written } = await write('POST', '/users', {
      token: people.administrator.token,
      body,
    });
    expect(status).toBe(201);
    expect(new URL(headers.get('location') ?? '', installation.url).pathname).toBe(`/users/${written.id}`);
    expect(
      (
        await read<Readonly<Record<string, unknown>>>(`/users/${written.id}`, {
          token: people.administrator.token,
        })
      ).body,
    ).toMatchObject(body);
    // Everybody else sees only the name.
    const seen = (await read<Readonly<Record<string, unknown>>>(`/users/${written.id}`)).body;
    expect(seen).toMatchObject({ id: written.id, name: 'Grace' });
    expect(seen).not.toHaveProperty('email');
  });

  test('an author writes a draft that nobody else sees', async ({ ada, rita, session: { read, write } }) => {
    const { status, headers, written } = await write('POST', '/articles', {
      token: ada.token,
      body: CONTENT,
    });
    articleId = written.id;
    expect([status, written.version]).toEqual([201, 1]);
    expect(headers.get('etag')).toMatch(/^(W\/)?"1-/);
    expect((await read<Article>(`/articles/${articleId}`, { token: ada.token })).body).toMatchObject({
      ...CONTENT,
      status: 'draft',
    });
    expect((await read(`/articles/${articleId}`)).status).toBe(404);
    expect((await read(`/articles/${articleId}`, { token: rita.token })).status).toBe(404);
  });

  test('links lead to the next actions: publish, then comment; each is shown only to callers with the right', async ({
    ada,
    rita,
    session: { read, write },
  }) => {
    const { body: draft } = await read<Article>(`/articles/${articleId}`, { token: ada.token });
    const { publish } = draft._links;
    expect(publish).toMatchObject({ method: 'POST' });
    await write(publish?.method ?? '', publish?.href ?? '', { token: ada.token });
    const { body: published } = await read<Article>(`/articles/${articleId}`, { token: rita.token });
    expect(published).toMatchObject({ status: 'published', author: { id: ada.userId, name: 'Ada' } });
    expect(Object.keys(published._links)).not.toEqual(expect.arrayContaining(['edit']));
    const { comment } = published._links;
    await write(comment?.method ?? '', comment?.href ?? '', {
      token: rita.token,
      body: { text: 'Well said.' },
    });
    const { body: comments } = await read<Comment[]>(published._links.comments?.href ?? '');
    expect(comments).toMatchObject([
      { text: 'Well said.', articleId, author: { id: rita.userId, name: 'Rita' } },
    ]);
  });

  test('an article changes by merge patch, by JSON patch, and as a whole, each against the version that was read', async ({
    ada,
    ask,
    session: { read, write },
  }) => {
    const path = `/articles/${articleId}`;
    const stale = (await read(path, { token: ada.token })).headers.get('etag') ?? '';
    const merge = { token: ada.token, body: { title: 'On machines' }, type: 'application/merge-patch+json' };
    await write('PATCH', path, { ...merge, headers: { 'if-match': stale } });
    expect(await ask('PATCH', path, { ...merge, headers: { 'if-match': stale } })).toMatchObject({
      status: 412,
      body: { code: 'version_mismatch' },
    });
    const patch = [{ op: 'add', path: '/tags/-', value: 'machines' }];
    await write('PATCH', path, { token: ada.token, body: patch, type: 'application/json-patch+json' });
    const { body: whole, headers } = await read<Article>(path, { token: ada.token });
    expect(whole).toMatchObject({ title: 'On machines', tags: ['engines', 'history', 'machines'] });
    const etag = headers.get('etag') ?? '';
    await write('PUT', path, {
      token: ada.token,
      body: { ...whole, body: 'Two of them.' },
      headers: { 'if-match': etag },
    });
    expect((await read<Article>(path)).body).toMatchObject({ title: 'On machines', body: 'Two of them.' });
  });
});
