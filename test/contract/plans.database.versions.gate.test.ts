// Over 200 lines, because it is one recording: the rows, the requests, and the plans of the statements that
// these cause.
import pg from 'pg';
import { expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { createDatabase } from '../engines/database.ts';
import { test as base } from '../engines/installation-fixture.ts';
import { expectRecorded } from './expect-recorded.ts';
import { explain, USUAL } from './explain.ts';
import { openStatementTap, type Tapped } from './statement-tap.ts';

/** The plans of the most frequent statements, as the product sends them to PostgreSQL for HTTP requests. */

const ARTICLES = 20_000;
const AUTHORS = 200;

/**
 * Fewer rows than PostgreSQL samples for its statistics (300 for each of 100 targets), so that these are the
 * same each time. The newest half are drafts, each author has the same number of articles, and the first
 * author sends the requests.
 */
const fill = async (client: pg.Client, authorId: number): Promise<void> => {
  const at = `timestamptz '2026-01-01' + g * interval '1 second'`;
  const writer = `case g % ${AUTHORS} when 0 then ${authorId} else 1000 + g % ${AUTHORS} end`;
  await client.query(`insert into read_model.users (id, name, role, version, created_at, updated_at)
    select 1000 + g, 'User ' || g, 'author', 1, ${at}, ${at} from generate_series(1, ${10 * AUTHORS}) g`);
  await client.query(`insert into read_model.articles (id, author_id, title, body, tags, status, version, created_at, updated_at, published_at)
    select 10000 + g, ${writer}, 'Title ' || g, 'common' || case when g % 1000 = 7 then ' rare' else '' end,
      case when g % 1000 = 7 then array['frequent', 'rare'] else array['frequent'] end, status, 1, ${at}, ${at},
      case when status = 'published' then ${at} end
    from generate_series(1, ${ARTICLES}) g, lateral (select case when g > ${ARTICLES / 2} then 'draft' else 'published' end) s (status)`);
  await client.query(`insert into read_model.comments (id, article_id, author_id, text, version, created_at, updated_at)
    select 100000 + g, 10001 + g % 1000, ${writer}, 'text', 1, ${at}, ${at} from generate_series(1, ${ARTICLES}) g`);
  await client.query(`insert into read_model.webhooks (id, owner_id, url, event_types, payload, is_ordered, rate_per_second, concurrency,
      header_names, scopes, is_enabled, version, created_at, updated_at)
    select 200000 + g, ${writer}, 'https://example.com', '{article.published}', 'full', false, 1, 1, '{}', '{}', true, 1, ${at}, ${at}
    from generate_series(1, ${ARTICLES / 10}) g`);
  // Before the first event, so that the follower leaves them alone.
  await client.query(`insert into event_index.event (position, id, stream, version, type, actor, client, correlation)
    select g - ${ARTICLES}, gen_random_uuid(), 'article-' || g % 5000, 1 + g / 5000, case g % 100 when 0 then 'article.deleted' else 'article.edited' end,
      'user:' || g % ${AUTHORS}, case g % 50 when 0 then 'shop' end, 'request ' || g from generate_series(1, ${ARTICLES}) g`);
  // The server's own vacuum may hold a table, and tests otherwise refuse to wait for locks.
  await client.query(`set lock_timeout = '30s'`);
  await client.query('vacuum analyze event_index.event');
  await client.query(
    'vacuum analyze read_model.users, read_model.articles, read_model.comments, read_model.webhooks',
  );
  await client.query('reset lock_timeout');
};

const PATHS = (authorId: number): readonly string[] => [
  '/articles',
  '/articles?sort=createdAt',
  '/articles?sort=-publishedAt',
  '/articles?status=draft',
  '/articles?tag=frequent',
  '/articles?tag=rare',
  '/articles?q=common',
  '/articles?q=rare',
  '/articles/10001',
  '/articles/10001/comments',
  '/comments/100001',
  `/users/${authorId}/articles`,
  '/users/1001/articles',
  '/users',
  '/users/1001',
  '/webhooks',
  '/events?sort=-cursor&article=10001',
  '/events?sort=-cursor&types=article.deleted',
  '/events?sort=-cursor&subject=article-1001',
  '/events?sort=-cursor&actor=user:77',
  '/events?sort=-cursor&client=shop',
  '/events?correlation=request',
  '/events/0199a1b2-7c3d-7e4f-8a5b-000000000001',
];

const QUERIES: Readonly<Record<string, string>> = {
  'connections within a connection': `{ postsConnection(first: 20) { nodes { title author { name postsConnection(first: 3) { nodes { title } } }
    commentsConnection(first: 5) { nodes { text author { name } } pageInfo { hasNextPage } } } pageInfo { hasNextPage } } }`,
  'a connection by tag': '{ postsConnection(first: 20, filter: { tag: "rare" }) { nodes { title } } }',
  'posts with authors and comments':
    '{ posts(limit: 20) { title author { name } comments(limit: 3) { text author { name } } } }',
  'users with posts': '{ usersConnection(first: 20) { nodes { name posts(limit: 3) { title } } } }',
  'a post with comments': '{ post(id: "10001") { title comments(limit: 10) { text author { name } } } }',
};

/** Also with the second page, which begins after a cursor. */
const IN_PAGES = [
  '/articles?limit=5',
  '/articles?tag=rare&limit=5',
  '/articles/10001/comments?limit=5',
  '/users?limit=5',
];

const TABLES = /\b(read_model\.(users|articles|comments|webhooks)|event_index\.event)\b/;

type Ask = { readonly asked: string; readonly token: string | undefined };

const ROUNDS_MAX = 6;

const textsOf = (statements: readonly Tapped[]): string =>
  JSON.stringify(statements.map(({ text }) => text).toSorted());

const part = (heading: string, plan: string): string => `## ${heading}\n${plan.replaceAll(/^/gm, '  ')}\n`;

/**
 * No list has a user's comments, but they lose their text with their author: in the projection, and in an
 * erasure.
 */
const STATEMENTS_OF_DELETION = 2;

const test = base
  .extend('createDatabase', { scope: 'file' }, () => createDatabase)
  .extend('database', { scope: 'file' }, async ({ createDatabase }, { onCleanup }) => {
    const database = await createDatabase();
    onCleanup(() => database[Symbol.asyncDispose]());
    return database;
  })
  .extend('tap', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const tap = await openStatementTap(database.url);
    onCleanup(() => tap[Symbol.asyncDispose]());
    return tap;
  })
  .extend('installationOptions', { scope: 'file' }, ({ tap }) => ({ settings: { DATABASE_URL: tap.url } }))
  /** A connection to the filled database. */
  .extend('client', { scope: 'file' }, async ({ ada, database }, { onCleanup }) => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    onCleanup(() => client.end());
    await client.query(USUAL);
    await until(
      () => client.query('select from read_model.users where id = $1', [ada.userId]),
      ({ rowCount }) => rowCount === 1,
    );
    await fill(client, ada.userId);
    return client;
  })
  /**
   * Sends it twice, because some statements are prepared only the second time, and until two runs send the
   * same: the installation also reads for itself now and then.
   */
  .extend(
    'statementsOf',
    { scope: 'file' },
    ({ ask, client: _filled, graphql, tap }) =>
      async ({ asked, token }: Ask): Promise<readonly Tapped[]> => {
        let before: readonly Tapped[] | undefined;
        for (let count = 0; count < ROUNDS_MAX; count += 1) {
          const from = tap.tapped.length;
          const { status, ...reply } = asked.startsWith('/')
            ? await ask('GET', asked, { token })
            : await graphql(asked, { token });
          expect([200, 401, 404], `${asked} ${JSON.stringify(reply)}`).toContain(status);
          if ('errors' in reply) expect(reply.errors).toBeUndefined();
          const sent = tap.tapped.slice(from).filter(({ text }) => TABLES.test(text));
          if (before !== undefined && textsOf(sent) === textsOf(before)) return sent;
          before = sent;
        }
        throw new Error(`${asked} sends something else each time`);
      },
  )
  .extend(
    'plansOf',
    { scope: 'file' },
    ({ ada, client }) =>
      async (statements: readonly Tapped[]): Promise<string> => {
        const plans: string[] = [];
        for (const statement of statements) plans.push(await explain(client, statement));
        return plans.length === 0
          ? 'nothing is read'
          : plans
              .toSorted()
              .join('\n--\n')
              .replaceAll(String(ada.userId), '<author>')
              .replaceAll(/("position" <= )'\d+'/g, "$1'<end>'");
      },
  )
  /** One part for all callers with the same plan. */
  .extend(
    'partsOf',
    { scope: 'file' },
    ({ ada, people, plansOf, statementsOf }) =>
      async (title: string, asked: string): Promise<string> => {
        const plans: (readonly [string, string])[] = [];
        const tokens = { anonymous: undefined, author: ada.token, admin: people.administrator.token };
        for (const [caller, token] of Object.entries(tokens))
          plans.push([await plansOf(await statementsOf({ asked, token })), caller]);
        const heading = title.replace(String(ada.userId), '<author>');
        return [...Map.groupBy(plans, ([plan]) => plan)]
          .map(([plan, same]) => part(`${same.map(([, caller]) => caller).join(', ')}: ${heading}`, plan))
          .join('\n');
      },
  )
  .extend('nextOf', { scope: 'file' }, ({ ask }) => async (path: string): Promise<string> => {
    const { headers } = await ask('GET', path);
    return /<([^>]+)>; rel="?next"?/.exec(headers.get('link') ?? '')?.[1] ?? '';
  })
  .extend('plansOfDeletion', { scope: 'file' }, ({ ada, ask, people, plansOf, tap }) => async () => {
    const from = tap.tapped.length;
    const { token } = people.administrator;
    const { status } = await ask('DELETE', `/users/${ada.userId}`, { token });
    expect(status).toBe(204);
    const updates = (): readonly Tapped[] => {
      const found = tap.tapped
        .slice(from)
        .filter(({ text }) => /\bupdate (read_model\.)?comments\b.*\bauthor_id = any/s.test(text));
      return [...new Map(found.map((statement) => [statement.text, statement])).values()];
    };
    return plansOf(await until(updates, ({ length }) => length >= STATEMENTS_OF_DELETION));
  });

test('the product sends statements with the recorded plans', async ({
  ada,
  nextOf,
  partsOf,
  plansOfDeletion,
}) => {
  const parts: string[] = [];
  for (const path of PATHS(ada.userId)) parts.push(await partsOf(`GET ${path}`, path));
  for (const path of IN_PAGES) parts.push(await partsOf(`GET ${path}, the second page`, await nextOf(path)));
  for (const [title, query] of Object.entries(QUERIES)) parts.push(await partsOf(`GraphQL, ${title}`, query));
  parts.push(part('the comments of a user who is deleted', await plansOfDeletion()));
  expectRecorded('plans.txt', parts.join('\n'));
});
