import { expect } from 'vitest';
import { formatCursor } from '#kernel/base/cursor.ts';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { draftArticle } from '../../test/engines/command-side.ts';
import { linkIn } from '../../test/links.ts';
import type { ArticleId } from '../../test/publishing-ids.ts';

const test = base.extend(
  'ask',
  { scope: 'file' },
  ({ backend }) =>
    async (path: string, asker: Asker | null) => {
      const { headers, body } = await backend.ask(path, { by: asker });
      return { headers, body };
    },
);

const idsIn = (body: unknown) => (body as { id: number }[]).map(({ id }) => id);

test('all pages of a list are of one time, and each item comes once, whatever is deleted in between', async ({
  admin,
  ask,
  backend,
  send,
}) => {
  const writer = await backend.person('author', 'Grace');
  const ids: ArticleId[] = [];
  for (let count = 0; count < 7; count += 1) ids.push(await draftArticle(backend.side, writer.id));
  const moment = new Date().toISOString();
  const seen: number[] = [];
  let next: string | undefined = `/users/${writer.id}/articles?limit=2&at=${moment}`;
  for (let deleted = 0; next; deleted += 1) {
    const { body, headers } = await ask(next, admin);
    seen.push(...idsIn(body));
    next = linkIn(headers);
    await send({ type: 'DeleteArticle', articleId: ids[6 - 2 * deleted] as ArticleId }, admin);
    await draftArticle(backend.side, writer.id);
  }
  expect(seen).toEqual(ids.toReversed());
});

test('aggregates created after the bound that the index gives are not read', async ({
  admin,
  ask,
  backend,
}) => {
  const writer = await backend.person('author', 'Charles');
  const [first, second] = [
    await draftArticle(backend.side, writer.id),
    await draftArticle(backend.side, writer.id),
  ];
  const position = await backend.side.eventLog.head();
  await backend.side.pool.query('insert into event_index.moment (position, latest_at) values ($1, now())', [
    position,
  ]);
  await draftArticle(backend.side, writer.id);
  const { body } = await ask(
    `/users/${writer.id}/articles?at=${formatCursor(backend.side.eventLog.identity, position)}`,
    admin,
  );
  expect(idsIn(body)).toEqual([second, first]);
});

test('a page that examines many candidates ends early, and the next one resumes there', async ({
  admin,
  ask,
  backend,
}) => {
  const writer = await backend.person('author', 'Emmy');
  const articleId = await draftArticle(backend.side, writer.id);
  const cursor = formatCursor(backend.side.eventLog.identity, await backend.side.eventLog.head());
  // Their streams are empty, so they never existed.
  await backend.side.pool.query(
    `insert into read_model.removed select 'articles', 10 + n, $1, date_trunc('milliseconds', now()) from generate_series(1, 450) n`,
    [writer.id],
  );
  const first = await ask(`/users/${writer.id}/articles?at=${cursor}`, admin);
  expect(first.body).toEqual([]);
  const next = linkIn(first.headers) ?? '';
  const second = await ask(next, admin);
  expect(idsIn(second.body)).toEqual([articleId]);
  expect(second.headers.get('link')).not.toContain('rel="next"');
  const query = `{ user(id: ${writer.id}, at: "${cursor}") { posts { id } } }`;
  const { body } = await backend.ask('/graphql', { by: admin, method: 'POST', body: { query } });
  expect(body).toMatchObject({ errors: [{ extensions: { code: 'too_much_to_look_at' } }] });
  const groups = await backend.ask(`/users/${writer.id}/articles/aggregate?at=${cursor}`, { by: admin });
  expect(groups).toMatchObject({ status: 400, body: { errors: [{ parameter: 'at' }] } });
  const grouping = `{ user(id: ${writer.id}, at: "${cursor}") { postsAggregate { groups { count } } } }`;
  const grouped = await backend.ask('/graphql', { by: admin, method: 'POST', body: { query: grouping } });
  expect(grouped.body).toMatchObject({ errors: [{ extensions: { code: 'too_much_to_look_at' } }] });
  const counting = `{ user(id: ${writer.id}, at: "${cursor}") { name postsConnection { totalCount } } }`;
  const counted = await backend.ask('/graphql', { by: admin, method: 'POST', body: { query: counting } });
  const note = { path: ['user', 'postsConnection', 'totalCount'], code: 'too_much_to_look_at' };
  expect(counted.body).toMatchObject({
    data: { user: { name: 'Emmy', postsConnection: { totalCount: null } } },
    extensions: { notes: [note] },
  });
  expect(counted.body).not.toHaveProperty('errors');
});
