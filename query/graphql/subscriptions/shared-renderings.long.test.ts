import * as fc from 'fast-check';
import { validate } from 'graphql';
import pino from 'pino';
import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { EventId, LogIdentity, Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Caller } from '#shared/policy.ts';
import { POLICY, SCOPES } from '../../../test/engines/policy.ts';
import { schema } from '../../../test/engines/schema.ts';
import { test as base, operationOf } from '../../../test/graphql/planned.ts';
import { randomCaller, randomRows } from '../../../test/graphql/random-rows.ts';
import { type ReadModelRows, writeRows } from '../../../test/graphql/read-model-rows.ts';
import { GROUPS, randomSubscription } from '../../../testing/graphql/random-query.ts';
import { type Random, randomOf } from '../../../testing/random.ts';
import { SEED } from '../../../testing/seed.ts';
import { type Cohort, strangerLike } from '../../changes/renderings.ts';
import { searchesOn } from '../../rows/searches.ts';
import { createExecutor, type ExecutorOptions } from '../executor.ts';
import type { Planner } from '../planner/planner.ts';
import { readerOf, refusalOf, rightsOf } from '../rules/rights.ts';
import { askedChangesOf } from './asked-changes.ts';
import { createCohorts } from './cohort.ts';

const RUNS = Number(process.env.PLANNER_RUNS ?? 60);
const DOCUMENTS_PER_ROWS = 3;
const CHANGES_PER_DOCUMENT = 4;
const IDENTITY = '0123abcd-0000-4000-8000-000000000000' as LogIdentity;

/** A change of an existing or former aggregate, with the facts after the event. */
const randomChange = (
  { pick, chance, below }: Random,
  { users, articles, comments }: ReadModelRows,
): Change => {
  const position = (1 + below(1_000)) as Position;
  const common = {
    position,
    id: `event-${position}` as EventId,
    schemaVersion: 1,
    version: 1 as Version,
    at: new Date(0).toISOString(),
  };
  const change = (
    type: string,
    stream: string,
    right: Change['right'],
    resource: Change['resource'],
  ): Change => ({
    ...{ ...common, type, stream: stream as StreamName, data: {}, right, resource },
    isParked: false,
    origin: null,
  });
  const kind = pick(['user', 'article', 'comment']);
  const owner = (id: number) => id as UserId;
  if (kind === 'article' && articles.length > 0) {
    const { id, author_id, status } = pick(articles);
    const articleStatus = chance(70) ? status : pick(['draft', 'published', 'deleted'] as const);
    return change('article.edited', `article-${id}`, 'article.read', {
      ownerId: owner(author_id),
      articleStatus,
    });
  }
  const comment = kind === 'comment' && comments.length > 0 ? pick(comments) : undefined;
  const article = articles.find(({ id }) => id === comment?.article_id);
  if (comment && article)
    return change('comment.edited', `comment-${comment.id}`, 'comment.read', {
      ...{ ownerId: owner(comment.author_id), articleAuthorId: owner(article.author_id) },
      articleStatus: chance(80) ? article.status : 'published',
    });
  const { id } = pick(users);
  return change('user.updated', `user-${id}`, chance(60) ? 'user.read' : 'user.read_private', {
    ownerId: owner(id),
  });
};

/** All viewers of the same kind, and a stranger. */
const viewersLike = (caller: Caller, { users }: ReadModelRows): readonly Caller[] =>
  caller.kind === 'user'
    ? [...users.map(({ id }) => ({ ...caller, userId: id as UserId })), strangerLike(caller)]
    : [caller];

/** Renders as the feed does: viewers whom a change concerns get a rendering of their own. */
const shared = (cohort: Cohort, change: Change, viewer: Caller): Promise<Buffer | undefined> => {
  const { ownerId, articleAuthorId } = change.resource;
  const isConcerned =
    viewer.kind === 'user' && (viewer.userId === ownerId || viewer.userId === articleAuthorId);
  return cohort.render(change, isConcerned ? viewer : strangerLike(viewer));
};

const it = base.extend('connectionsMax', { scope: 'file' }, 2);

it(`shows each viewer of a cohort what the resolvers would show them alone, for random documents, changes and viewers (TEST_SEED=${SEED})`, async ({
  planner,
  pool,
}) => {
  let planned = 0;
  const counting: Pick<Planner, 'plan'> = {
    async plan(read) {
      const data = await planner.plan(read);
      if (data !== undefined) planned += 1;
      return data;
    },
  };
  const execute = createExecutor({
    domain: publishing,
    schema,
    pool,
    searches: searchesOn(pool),
  } as ExecutorOptions);
  const options = {
    domain: publishing,
    eventLog: { identity: IDENTITY },
    execute,
    log: pino({ level: 'silent' }),
  };
  const cohortOf = createCohorts({ ...options, planner: counting });
  const cohortOfResolvers = createCohorts({ ...options, planner: { plan: async () => undefined } });
  let [compared, together] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (start) => {
      const random = randomOf(start);
      const rows = randomRows(random);
      await writeRows(pool, rows);
      const ids = [...rows.users, ...rows.articles, ...rows.comments].map(({ id }) => String(id));
      for (let count = 0; count < DOCUMENTS_PER_ROWS; count += 1) {
        const { text, variables } = randomSubscription(random, schema, {
          ids,
          cursors: new Map(),
          searches: [],
          omitted: GROUPS,
        });
        const { document, operation } = operationOf(text);
        const rights = rightsOf({ domain: POLICY.domain, schema }, document, operation);
        const drawn = randomCaller(random, rows);
        const asker: Caller =
          random.chance(60) && drawn.kind === 'user' ? { ...drawn, scopes: new Set(SCOPES) } : drawn;
        if (validate(schema, document).length > 0 || refusalOf(asker, rights, operation.operation)) continue;
        const caller = readerOf(asker, rights);
        const prepared = { hash: text, schema, document, operations: [], introspects: false };
        const cohortFor = (viewer: Caller, of = cohortOf) => {
          const runnable = {
            prepared,
            operation: { node: operation, rights },
            variables,
            caller: viewer,
            cost: 0,
          };
          return of(runnable, askedChangesOf(publishing, runnable));
        };
        const viewers = viewersLike(caller, rows);
        const cohorts = new Map(
          viewers.map((viewer) => cohortFor(viewer)).map((cohort) => [cohort.key, cohort]),
        );
        if (cohorts.size < viewers.length) together += 1;
        for (let made = 0; made < CHANGES_PER_DOCUMENT; made += 1) {
          const change = randomChange(random, rows);
          for (const viewer of viewers) {
            const own = cohortFor(viewer);
            const alone = await cohortFor(viewer, cohortOfResolvers).render(change, viewer);
            // Rendered by the viewer who created the cohort.
            const asOneOfMany = await shared(cohorts.get(own.key) ?? own, change, viewer);
            expect(String(asOneOfMany), `${text}\n${JSON.stringify({ variables, change, viewer })}`).toBe(
              String(alone),
            );
            compared += 1;
          }
        }
      }
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
  console.log(
    `${compared} compared, ${planned} subjects read by the planner; of ${together} documents, several viewers shared one`,
  );
  expect(together).toBeGreaterThan(RUNS / 4);
  expect(planned).toBeGreaterThan(RUNS / 4);
});
