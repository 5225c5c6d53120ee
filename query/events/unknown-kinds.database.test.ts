import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { formatCursor } from '#kernel/base/cursor.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { context } from '../../test/codec-fixture.ts';
import { type Asker, type Backend, test as base } from '../../test/engines/backend.ts';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import { follow } from '../../testing/http/event-source.ts';

const publish = async (author: Asker, backend: Backend, title: string): Promise<number> =>
  (
    (
      await backend.ask('/articles', {
        by: author,
        method: 'POST',
        body: { title, body: '', tags: [], publish: true },
      })
    ).body as {
      id: number;
    }
  ).id;

/** Appends an event as another release, or another program, would. */
const plant = async (backend: Backend, stream: string, type: string, data: JsonObject): Promise<void> => {
  const { correlation, causation, ...rest } = context;
  const metadata = { ...rest, version: 1, $correlationId: correlation, $causationId: causation };
  await backend.side.eventLog.append(stream as StreamName, 'any', [
    { id: randomUUID() as EventId, type, data, metadata },
  ]);
};

const test = base
  .extend('backendSettings', { scope: 'file' }, { NODE_ENV: 'test' })
  .extend('article', { scope: 'file' }, ({ author, backend }) => publish(author, backend, 'Published'))
  .extend('plantAll', { scope: 'file' }, ({ article, author, backend }) => async () => {
    const mark = { articleId: article, authorId: author.id };
    await plant(backend, 'gadget-1', 'gadget.made', { ...mark, ownerId: author.id, secret: 'planted' });
    await plant(backend, 'gadget-1', 'article.published', mark);
    await plant(backend, 'gadget-2', 'article.edited', { ...mark, title: 'planted' });
    await plant(backend, 'gadget-3', 'comment.added', { ...mark, commentId: 77, text: 'planted' });
    await plant(backend, 'gadget-4', 'session.signed_out', { userId: author.id, sessionId: 'planted' });
    await plant(backend, streamName('session', 'planted'), 'article.edited', { ...mark, title: 'planted' });
    await plant(backend, streamName('email', 'planted'), 'article.edited', { ...mark, title: 'planted' });
  });

test('an event of an unknown kind is invisible to everyone, on every page and stream', async ({
  admin,
  article,
  author,
  backend,
  plantAll,
}) => {
  const callers = [author, admin];
  const subscription = '{ cursor type article { title } comment { id } user { id } }';
  const after = formatCursor(backend.side.eventLog.identity, await backend.side.eventLog.head());
  const streams = await Promise.all(
    callers.flatMap(async (by) => {
      const headers = await backend.authorization(by);
      const token = headers.authorization?.replace('Bearer ', '');
      const at = { url: backend.url, fetch };
      return [
        await follow(`${backend.url}/events?after=${after}`, { headers }),
        await streamOf(
          at,
          `subscription { changes(types: ["*", "article.*"], after: "${after}") ${subscription} }`,
          { token },
        ),
        await streamOf(
          at,
          `subscription { articleChanged(id: "${article}", after: "${after}") { type article { title } } }`,
          { token },
        ),
      ] as const;
    }),
  );
  await plantAll();
  await backend.ask(`/articles/${article}`, {
    by: author,
    method: 'PATCH',
    body: { title: 'The last of all' },
  });
  for (const [events, changes, ofArticle] of streams) {
    expect((await events.data<{ type: string }>(1)).map(({ type }) => type)).toEqual(['article.edited']);
    expect(await changes.results(1)).toMatchObject([{ data: { changes: { type: 'article.edited' } } }]);
    expect(await ofArticle.results(1)).toMatchObject([
      { data: { articleChanged: { article: { title: 'The last of all' } } } },
    ]);
    for (const stream of [events, changes, ofArticle]) {
      await stream.close();
      expect(JSON.stringify(stream.messages)).not.toMatch(/planted|gadget/);
    }
  }
  for (const by of callers) {
    const whole = (await backend.ask('/events?limit=100', { by })).body;
    expect(JSON.stringify(whole)).toContain('The last of all');
    expect(JSON.stringify(whole)).not.toMatch(/planted|gadget/);
    expect((await backend.ask('/events?subject=session-planted', { by })).body).toEqual([]);
    for (const subject of ['gadget-1', 'email-planted'])
      expect((await backend.ask(`/events?subject=${subject}`, { by })).status).toBe(400);
    expect(JSON.stringify((await backend.ask(`/articles/${article}/history`, { by })).body)).not.toMatch(
      /planted|gadget/,
    );
    expect((await backend.ask('/comments/77', { by })).status).toBe(404);
  }
});
