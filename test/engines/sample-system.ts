import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { until } from '../../testing/until.ts';
import { type Asker, type Backend, openBackend } from './backend.ts';

/** A system with a little of everything, and the answers to every kind of caller. */
type Story = {
  readonly callers: readonly (Asker | null)[];
  readonly paths: readonly string[];
  readonly queries: readonly string[];
};

/** Users, one of them erased, articles in all states, comments, a webhook, and a parked article. */
export const writeSample = async (backend: Backend): Promise<Story> => {
  const write = async (by: Asker, method: string, path: string, body?: object): Promise<number> => {
    const reply = await backend.ask(path, { by, method, ...(body && { body }) });
    expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300);
    return (reply.body as { id: number }).id;
  };
  const [author, reader, admin, leaving] = [
    await backend.person('author', 'Ada'),
    await backend.person('reader', 'Rita'),
    await backend.person('admin', 'Root'),
    await backend.person('author', 'Leaving'),
  ];
  const article = await write(author, 'POST', '/articles', {
    title: 'On engines',
    body: 'Text\u2028 “é” 😀',
    tags: ['a', 'b'],
    publish: true,
  });
  const draft = await write(author, 'POST', '/articles', { title: 'Draft', body: '', tags: [] });
  const theirs = await write(leaving, 'POST', '/articles', {
    title: 'Left behind',
    body: '',
    tags: [],
    publish: true,
  });
  const parked = await write(author, 'POST', '/articles', {
    title: 'Parked',
    body: '',
    tags: [],
    publish: true,
  });
  const comment = await write(reader, 'POST', `/articles/${article}/comments`, { text: 'Well said.' });
  await write(leaving, 'POST', `/articles/${article}/comments`, { text: 'Forget me.' });
  await write(author, 'POST', '/webhooks', { url: 'https://example.com/hook', eventTypes: ['article.*'] });
  await write(author, 'PATCH', `/articles/${article}`, { title: 'On many engines' });
  await write(admin, 'PATCH', `/users/${reader.id}`, { email: 'rita@example.com' });
  await backend.ask(`/users/${leaving.id}`, { by: admin, method: 'DELETE' });
  const damaged = {
    id: randomUUID() as EventId,
    type: 'article.edited',
    data: { articleId: parked, title: 7, ratio: 0.1 },
    metadata: { at: '2026-01-02T03:04:05.678Z', version: 1 },
  };
  await backend.side.eventLog.append(`article-${parked}` as StreamName, 'any', [damaged]);
  await untilSettled(backend);
  return {
    callers: [null, reader, author, admin],
    paths: [
      ...[
        '/articles',
        '/users',
        '/webhooks',
        '/events?limit=100',
        `/events?subject=article-${article}`,
        '/articles?limit=2',
      ],
      ...[article, draft, theirs, parked].flatMap((id) => [`/articles/${id}`, `/articles/${id}/comments`]),
      ...[author, reader, leaving].map(({ id }) => `/users/${id}`),
      `/comments/${comment}`,
    ],
    queries: [
      '{ users(limit: 10) { id name email posts(limit: 10) { id title comments { text author { id name } } } } }',
      `{ post(id: ${article}) { title body status author { name } comments { text author { name } } } }`,
    ],
  };
};

/** The process manager may still process consequences of a deletion. */
const untilSettled = async ({ side }: Backend): Promise<void> => {
  const followers = () =>
    side.pool
      .query<{ position: number }>('select position from public.follower_checkpoint')
      .then(({ rows }) => rows.map(({ position }) => position));
  let before = -1;
  await until(
    async () => {
      const head = await side.eventLog.head();
      const isStill = head === before && (await followers()).every((position) => position >= head);
      before = head;
      return isStill;
    },
    (isStill) => isStill,
    60_000,
  );
};

/** All answers to everybody. Omits cursors, which depend on the log. */
export const answersOf = async (
  story: Story,
  on: Parameters<typeof openBackend>[1] & object,
): Promise<readonly unknown[]> => {
  await using backend = await openBackend({}, on);
  await untilSettled(backend);
  const answers: unknown[] = [];
  for (const by of story.callers) {
    for (const path of story.paths) {
      const { status, body } = await backend.ask(path, { by });
      answers.push([by?.role, path, status, withoutCursors(body)]);
    }
    for (const query of story.queries) {
      const { status, body } = await backend.ask('/graphql', { by, method: 'POST', body: { query } });
      answers.push([by?.role, query, status, withoutCursors(body)]);
    }
  }
  return answers;
};

const withoutCursors = (body: unknown): unknown =>
  JSON.parse(
    JSON.stringify(body, (name, value) =>
      name === 'cursor' || name === 'requestId' || name === 'instance' ? undefined : value,
    ).replaceAll(/[0-9a-f]{8}-[0-9a-z]{1,11}(?:-[0-9a-f]{8})?(?=["&])/g, '…'),
  );
