// Over 200 lines, because one history is read by every kind of caller.
import { describe, expect } from 'vitest';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { draftArticle } from '../../test/engines/command-side.ts';
import { SCOPES } from '../../test/engines/policy.ts';
import { appendRaw } from '../../test/engines/projection.ts';
import { linkIn } from '../../test/links.ts';
import { scaled } from '../../testing/load.ts';

type Entry = Readonly<Record<string, unknown>> & {
  readonly version: number;
  readonly type: string;
  readonly changes: readonly { readonly field: string }[];
  readonly _links: Readonly<Record<string, { readonly href: string }>>;
};
const test = base
  .extend('articleId', { scope: 'file' }, async ({ admin, author, backend, send }) => {
    const articleId = await draftArticle(backend.side, author.id, false);
    await send({ type: 'EditArticle', articleId, title: 'On looms', tags: ['looms'] }, author);
    await send({ type: 'PublishArticle', articleId }, author);
    const body = `${'A line.\n'.repeat(20)}The end.`;
    await send({ type: 'EditArticle', articleId, body }, admin);
    await send({ type: 'EditArticle', articleId, body: body.replace('The end.', 'The very end.') }, author);
    return articleId;
  })
  .extend('historyOf', { scope: 'file' }, ({ backend }) => async (path: string, asker: Asker | null) => {
    const { status, body } = await backend.ask(`${path}/history`, { by: asker });
    expect([path, status]).toEqual([path, 200]);
    return body as readonly Entry[];
  })
  .extend('typesFor', { scope: 'file' }, ({ historyOf }) => async (path: string, asker: Asker) => {
    return (await historyOf(path, asker)).map(({ type }) => type);
  });

describe('of an article', () => {
  test('each entry shows what the event changed in the item, the latest first', async ({
    articleId,
    author,
    historyOf,
  }) => {
    const [last, , published, edited, drafted] = await historyOf(`/articles/${articleId}`, author);
    expect(last).toMatchObject({ version: 5, type: 'article.edited', actor: `user:${author.id}` });
    expect(last?.changes).toEqual([
      { field: 'body', diff: '@@ -18,4 +18,4 @@\n A line.\n A line.\n A line.\n-The end.\n+The very end.' },
    ]);
    expect(published?.changes).toEqual([
      { field: 'status', from: 'draft', to: 'published' },
      { field: 'publishedAt', from: null, to: expect.stringMatching(/Z$/) },
    ]);
    expect(edited?.changes).toEqual([
      { field: 'title', from: 'On engines', to: 'On looms' },
      { field: 'tags', from: [], to: ['looms'] },
    ]);
    expect(drafted?.changes).toContainEqual({ field: 'title', from: null, to: 'On engines' });
    expect(drafted?.changes).toContainEqual({ field: 'status', from: null, to: 'draft' });
  });

  test('all readers see the actor; only the actor and administrators see the origin', async ({
    admin,
    articleId,
    author,
    historyOf,
    reader,
  }) => {
    const traced = async (asker: Asker) =>
      (await historyOf(`/articles/${articleId}`, asker)).filter((entry) => 'request' in entry);
    expect((await traced(admin)).map(({ version }) => version)).toEqual([5, 4, 3, 2, 1]);
    expect((await traced(author)).map(({ version }) => version)).toEqual([5, 3, 2, 1]);
    expect(await traced(reader)).toEqual([]);
    expect((await traced(admin))[0]).toMatchObject({
      client: 'test-client',
      correlation: expect.any(String),
      causation: null,
    });
  });

  test('pages link in both directions, and each entry comes once', async ({ articleId, author, backend }) => {
    const seen: number[] = [];
    const ways: string[] = [];
    let next: string | undefined = `/articles/${articleId}/history?limit=2`;
    while (next) {
      ways.push(next);
      const { body, headers } = await backend.ask(next, { by: author });
      seen.push(...(body as Entry[]).map(({ version }) => version));
      next = linkIn(headers);
    }
    expect(seen).toEqual([5, 4, 3, 2, 1]);
    const { headers } = await backend.ask(ways.at(-1) ?? '', { by: author });
    const back = await backend.ask(linkIn(headers, 'prev') ?? '', { by: author });
    expect((back.body as Entry[]).map(({ version }) => version)).toEqual([3, 2]);
    const first = await backend.ask(linkIn(back.headers, 'prev') ?? '', { by: author });
    expect((first.body as Entry[]).map(({ version }) => version)).toEqual([5, 4]);
    expect(linkIn(first.headers, 'prev')).toBeUndefined();
    expect((await backend.ask(`/articles/${articleId}/history?after=abc`, { by: author })).status).toBe(400);
  });

  test('only administrators read the history of a deleted item, with the cause of consequences', async ({
    admin,
    author,
    backend,
    historyOf,
    reader,
    send,
    typesFor,
  }) => {
    const id = await draftArticle(backend.side, author.id);
    const { id: commentId } = await send({ type: 'AddComment', articleId: id, text: 'Well said.' }, reader);
    await send({ type: 'DeleteArticle', articleId: id }, author);
    await expect
      .poll(() => typesFor(`/comments/${commentId}`, admin), { timeout: scaled(20_000) })
      .toEqual(['comment.deleted', 'comment.added']);
    const [deleted] = await historyOf(`/comments/${commentId}`, admin);
    expect(deleted).toMatchObject({
      actor: 'system:process-manager',
      changes: [],
      causation: expect.any(String),
    });
    expect(deleted?._links).toEqual({ cause: { href: `/articles/${id}/history` } });
    const [cause] = await historyOf(deleted?._links.cause?.href.replace('/history', '') ?? '', admin);
    expect(cause?.id).toBe(deleted?.causation);
    for (const path of [`/articles/${id}`, `/comments/${commentId}`]) {
      expect((await backend.ask(`${path}/history`, { by: author })).status).toBe(404);
      const blind = { ...admin, scopes: SCOPES.filter((scope) => !/^read:(articles|comments)$/.test(scope)) };
      expect((await backend.ask(`${path}/history`, { by: blind })).status).toBe(404);
    }
    expect((await backend.ask('/articles/1/history', { by: admin })).body).toMatchObject({
      code: 'article_not_found',
    });
  });

  test('a poison event is an entry that says so, and its neighbours are described', async ({
    admin,
    author,
    backend,
    historyOf,
  }) => {
    const id = await draftArticle(backend.side, author.id, false);
    await appendRaw(
      backend.side,
      `article-${id}`,
      { type: 'article.edited', data: { articleId: id, authorId: author.id, more: 1 } },
      1,
    );
    await appendRaw(
      backend.side,
      `article-${id}`,
      { type: 'article.edited', data: { articleId: id, authorId: author.id, title: 'On' } },
      2,
    );
    const [after, damaged, before] = await historyOf(`/articles/${id}`, admin);
    expect(damaged).toMatchObject({ version: 2, unreadable: true, actor: null, changes: [] });
    expect([after?.changes, before?.type]).toEqual([
      [{ field: 'title', from: 'On engines', to: 'On' }],
      'article.drafted',
    ]);
    expect((await backend.ask(`/articles/${id}/history`, { by: author })).body).toMatchObject({
      code: 'parked',
    });
  });

  test('pages of a long history are found from either side, and each change has its old value', async ({
    author,
    backend,
    historyOf,
    reader,
    send,
  }) => {
    const id = await draftArticle(backend.side, author.id, false);
    const data = { articleId: id, authorId: author.id };
    const metadata = {
      version: 1,
      at: new Date().toISOString(),
      actor: 'anonymous',
      client: null,
      request: 'r',
      $correlationId: 'c',
      $causationId: null,
    };
    const events = Array.from({ length: 1_100 }, (_, n) => ({
      ...{
        id: crypto.randomUUID() as never,
        type: 'article.edited',
        data: { ...data, body: `${n}` },
        metadata,
      },
    }));
    await backend.side.eventLog.append(`article-${id}` as never, 1 as never, events.slice(0, 550));
    await backend.side.eventLog.append(`article-${id}` as never, 551 as never, events.slice(550));
    await send({ type: 'EditArticle', articleId: id, title: 'At last' }, author);
    const [last, before] = await historyOf(`/articles/${id}`, author);
    expect([last?.version, last?.changes]).toEqual([
      1_102,
      [{ field: 'title', from: 'On engines', to: 'At last' }],
    ]);
    expect(before?.changes).toEqual([{ field: 'body', from: '1098', to: '1099' }]);
    // The reader may not see changes of the draft, and a page examines a limited number of them.
    await send({ type: 'PublishArticle', articleId: id }, author);
    const first = await backend.ask(`/articles/${id}/history`, { by: reader });
    expect((first.body as Entry[]).map(({ type }) => type)).toEqual(['article.published']);
    const second = await backend.ask(linkIn(first.headers) ?? '', { by: reader });
    expect([second.body, linkIn(second.headers)]).toEqual([[], undefined]);
    const back = await backend.ask(linkIn(second.headers, 'prev') ?? `/articles/${id}/history`, {
      by: reader,
    });
    expect((back.body as Entry[]).length).toBe(1);
  });
});
