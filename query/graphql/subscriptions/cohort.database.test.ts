import pino from 'pino';
import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { EventId, LogIdentity, Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Caller } from '#shared/policy.ts';
import { createReadModel } from '#shared/projection/schema.ts';
import { callerIn, POLICY } from '../../../test/engines/policy.ts';
import { schema } from '../../../test/engines/schema.ts';
import { tables } from '../../../test/engines/tables.ts';
import { ANONYMOUS, test as base, operationOf } from '../../../test/graphql/planned.ts';
import { writeRows } from '../../../test/graphql/read-model-rows.ts';
import { searchesOn } from '../../rows/searches.ts';
import type { Execute } from '../execute.ts';
import { createExecutor, type ExecutorOptions } from '../executor.ts';
import { askedChangesOf } from './asked-changes.ts';
import { createCohorts } from './cohort.ts';

const IDENTITY = '0123abcd-0000-4000-8000-000000000000' as LogIdentity;
const AT = new Date(1_700_000_000_000);
const stamps = { version: 1, created_at: AT, updated_at: AT };

const users = [{ id: 7, name: 'Ada', email: 'ada@example.com', role: 'author', deleted_at: null, ...stamps }];
const post = { author_id: 7, title: 'Engines', body: '', tags: [], cover: null, ...stamps };
const articles = [{ ...post, id: 5, status: 'published' as const, published_at: AT }];

const author = (userId: number, role = 'author') => callerIn(POLICY, { userId, role });
const PUBLISHED: Change = {
  position: 36 as Position,
  id: 'e0000000-0000-4000-8000-000000000000' as EventId,
  type: 'article.published',
  schemaVersion: 1,
  stream: 'article-5' as StreamName,
  version: 2 as Version,
  at: AT.toISOString(),
  data: { articleId: 5, authorId: 7 },
  right: 'article.read',
  resource: { ownerId: 7 as UserId, articleStatus: 'published' },
  isParked: false,
  origin: null,
};
const TITLE =
  'subscription ($after: Cursor) { articlePublished(after: $after) { subjectId article { title author { name } } } }';

const it = base.extend('cohorts', { scope: 'file' }, ({ planner, pool }) => {
  const parts = { domain: publishing, schema, pool, searches: searchesOn(pool) };
  const resolvers = createExecutor(parts as ExecutorOptions);
  const cohortFor = (
    text: string,
    caller: Caller = ANONYMOUS,
    variables: Record<string, unknown> = {},
    execute: Execute = resolvers,
  ) => {
    const { document, operation } = operationOf(text);
    const runnable = {
      prepared: { hash: text, schema, document, operations: [], introspects: false },
      operation: { node: operation, rights: new Set<never>() },
      ...{ variables, caller, cost: 0 },
    };
    const log = pino({ level: 'silent' });
    const cohortOf = createCohorts({
      domain: publishing,
      eventLog: { identity: IDENTITY },
      planner,
      execute,
      log,
    });
    return cohortOf(runnable, askedChangesOf(publishing, runnable));
  };
  const render = async (change: Change = PUBLISHED, text = TITLE) =>
    String(await cohortFor(text).render(change, ANONYMOUS));
  const errorsIn = async () => JSON.parse((await render()).split('data: ')[1] ?? '');
  return { cohortFor, errorsIn, render };
});
it.beforeEach(async ({ pool }) => {
  await pool.query('drop schema read_model cascade');
  await createReadModel(pool, tables, 'read_model');
  await writeRows(pool, { users, articles, comments: [] });
});

it('makes a message of GraphQL over SSE whose id is the cursor', async ({ cohorts: { render } }) => {
  const data =
    '{"data":{"articlePublished":{"subjectId":"5","article":{"title":"Engines","author":{"name":"Ada"}}}}}';
  expect(await render()).toBe(`event: next\nid: 0123abcd-10-00000000\ndata: ${data}\n\n`);
});

it('reads plain payloads without the resolvers, also with fragments and aliases', async ({
  cohorts: { cohortFor },
}) => {
  const plain = `subscription { told: articlePublished { at subjectId post: article { ...Titled } } } fragment Titled on Post { title author { name } }`;
  const execute = async () => Promise.reject(new Error('the resolvers were asked'));
  const data = `{"told":{"at":"${AT.toISOString()}","subjectId":"5","post":{"title":"Engines","author":{"name":"Ada"}}}}`;
  expect(String(await cohortFor(plain, ANONYMOUS, {}, execute).render(PUBLISHED, ANONYMOUS))).toContain(
    `data: {"data":${data}}\n\n`,
  );
  const others = [
    'subscription { articlePublished { ... { type } } }',
    'subscription { articlePublished { __typename } }',
  ];
  for (const text of others)
    await expect(cohortFor(text, ANONYMOUS, {}, execute).render(PUBLISHED, ANONYMOUS)).rejects.toThrow(
      'resolvers',
    );
});

it('leaves to the resolvers what only a query may ask for', async ({ cohorts: { render } }) => {
  const text = 'subscription { articlePublished { article { history(first: 1) { edges { cursor } } } } }';
  expect(await render(PUBLISHED, text)).toContain('have no histories: use a query');
});

it('makes no message of a change that the caller may not see', async ({ cohorts: { cohortFor } }) => {
  const draft: Change = {
    ...PUBLISHED,
    type: 'article.edited',
    resource: { ownerId: 7 as UserId, articleStatus: 'draft' },
  };
  expect(await cohortFor(TITLE).render(draft, ANONYMOUS)).toBeUndefined();
  expect(await cohortFor(TITLE, author(7)).render(draft, author(7))).toBeDefined();
  expect(await cohortFor(TITLE, author(8)).render(draft, author(8))).toBeUndefined();
});

it('shows a deleted aggregate as null', async ({ cohorts: { render }, pool }) => {
  await pool.query('delete from read_model.articles');
  expect(await render()).toContain('"article":null');
});

it('is shared by requests for the same with the same rights, wherever they begin', ({
  cohorts: { cohortFor },
}) => {
  const key = (...[text, caller, variables]: Parameters<typeof cohortFor>) =>
    cohortFor(text, caller, variables).key;
  expect(key(TITLE, author(7), { after: 'a' })).toBe(key(TITLE, author(8), { after: 'b' }));
  expect(key(TITLE, author(7))).not.toBe(key(TITLE, author(7, 'reader')));
  expect(key(TITLE, author(7))).not.toBe(key(TITLE));
  expect(key(TITLE, author(7))).not.toBe(
    key(TITLE, { ...author(7), scopes: new Set(['read:articles']) } as Caller),
  );
  const changed =
    'subscription ($id: ID!) { articleChanged(id: $id) { article { comments { author { email } } } } }';
  expect(key(changed, author(7), { id: 5 })).toBe(key(changed, author(7), { id: '5' }));
  expect(key(changed, author(7), { id: 5 })).not.toBe(key(changed, author(7), { id: 6 }));
  expect(key(changed, author(7), { id: 5 })).not.toBe(key(changed, author(8), { id: 5 }));
});

it('reports a poison event at its field, and masks unexpected errors', async ({
  cohorts: { errorsIn },
  pool,
}) => {
  await pool.query('delete from read_model.articles');
  await pool.query(
    `insert into read_model.parked (stream, version, position, type, reason) values ('article-5', 2, 36, 'x', 'y')`,
  );
  expect(await errorsIn()).toMatchObject({
    data: { articlePublished: { article: null } },
    errors: [{ extensions: { code: 'parked' } }],
  });
  const failing = 'create view read_model.articles as select * from read_model.kept where 1 / (select 0) > 0';
  await pool.query(`truncate read_model.parked; alter table read_model.articles rename to kept; ${failing}`);
  const { errors } = await errorsIn();
  expect(errors).toMatchObject([
    {
      message: 'Something went wrong on our side.',
      extensions: { code: 'internal', requestId: PUBLISHED.id },
    },
  ]);
});

it('makes no message of a temporary failure, such as an unavailable database', async ({
  cohorts: { render },
  pool,
}) => {
  await pool.query('drop schema read_model cascade');
  await expect(render()).rejects.toMatchObject({ code: 'unavailable' });
});
