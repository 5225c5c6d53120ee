import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { assemble } from '#kernel/assembly/assemble.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { domain } from '#kernel/declare/domain.ts';
import { instant, line, ref } from '#kernel/declare/fields.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { START } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { as, by, registerUser, system } from '../../test/engines/command-side.ts';
import { createFilledReadModel, type FilledReadModel } from '../../test/engines/filled-read-model.ts';
import { inTheDatabase } from '../../test/engines/log-engines.ts';
import { appendRaw, untilProjected } from '../../test/engines/projection.ts';
import { tables } from '../../test/engines/tables.ts';
import { until } from '../../testing/until.ts';
import { computeDigest, type Digests, readKeptDigest } from './kept-digest.ts';
import { project } from './project.ts';
import { rebuild } from './rebuild.ts';
import { retry } from './retry.ts';
import { rollback } from './rollback.ts';
import { createReadModel, useReadModel } from './schema.ts';

let readModel: FilledReadModel;
beforeAll(async () => {
  readModel = await createFilledReadModel(inTheDatabase);
});
afterAll(() => readModel?.[Symbol.asyncDispose]());

const kept = async () => (await readKeptDigest(readModel.side.pool))?.digests;
const expectKept = async () => {
  await untilProjected(readModel.side);
  // Reactions to deletions may still arrive between the two reads.
  const look = async () =>
    [await kept(), await computeDigest(readModel.side.pool, tables, 'read_model')] as const;
  const [one, other] = await until(look, ([first, second]) => isDeepStrictEqual(first, second));
  expect(one).toEqual(other);
};

/** The digest of the log up to a position, computed from a fresh read model. */
const replayedUpTo = async (position: number): Promise<Digests> => {
  const { pool, eventLog, keys } = readModel.side;
  const schema = `replay_${position}_${Date.now()}`;
  await createReadModel(pool, tables, schema);
  for await (const page of eventLog.follow(START, new AbortController().signal)) {
    await inTransaction(pool, async (connection) => {
      await useReadModel(connection, schema);
      await project(
        connection,
        { codec: createCodec({ keys, domain: publishing }), tables },
        page.filter((event) => event.position <= position),
      );
    });
    if ((page.at(-1)?.position ?? 0) >= position) break;
  }
  return computeDigest(pool, tables, schema);
};

test('it equals the digest of the tables after any write', async () => {
  await expectKept();
  const userId = await registerUser(readModel.side, { name: 'Gone', email: 'gone@example.com' });
  const articleId = await readModel.writeSome(userId);
  await readModel.side.send({ type: 'DeleteArticle', articleId }, by(as(userId)));
  await readModel.side.send({ type: 'DeleteUser', userId }, by(as(userId)));
  await expectKept();
  expect((await kept())?.users).toMatch(/^5 rows, -?\d+ -?\d+$/);
});

test('it is kept over parking, retrying, rebuilding and rolling back', async () => {
  const articleId = await readModel.writeSome(readModel.authors[0] as UserId);
  const stream = `article-${articleId}`;
  await appendRaw(readModel.side, stream, { type: 'article.eaten', data: {} }, 3);
  await until(
    async () => (await readModel.side.pool.query('select from read_model.parked')).rowCount,
    (count) => count === 1,
  );
  await expectKept();
  await readModel.side.pool.query(
    `insert into public.projection_skip (stream, version, position, reason) values ($1, 4, 0, 'test')`,
    [stream],
  );
  await retry(readModel.work(), stream as never);
  await expectKept();
  await rebuild(readModel.work());
  await readModel.writeSome(readModel.authors[1] as UserId);
  await expectKept();
  await rollback(readModel.work());
  await readModel.writeSome(readModel.authors[2] as UserId);
  await expectKept();
});

test.each([
  `update read_model.articles set title = 'Other' where id = (select min(id) from read_model.articles)`,
  'delete from read_model.comments where id = (select min(id) from read_model.comments)',
  `insert into read_model.users (id, name, role, version, created_at, updated_at) values (1, 'Eve', 'admin', 1, now(), now())`,
])('%s shows, because it is by hand', async (statement) => {
  await expectKept();
  const before = await kept();
  await readModel.side.pool.query(statement);
  expect(await kept()).toEqual(before);
  expect(await computeDigest(readModel.side.pool, tables, 'read_model')).not.toEqual(before);
  await rebuild(readModel.work());
});

test('the former digest results again after an erasure', async () => {
  const userId = await registerUser(readModel.side, { name: 'Ephemera', email: 'ephemera@example.com' });
  await readModel.writeSome(userId);
  await expectKept();
  const then = await readKeptDigest(readModel.side.pool);
  await readModel.side.send({ type: 'UpdateUser', userId, email: 'other@example.com' }, by(system));
  await readModel.side.send({ type: 'DeleteUser', userId }, by(as(userId)));
  await until(
    async () => (await readModel.side.keys.find([userId])).get(userId),
    (key) => key === 'destroyed',
  );
  expect(await replayedUpTo(then?.position ?? 0)).toEqual(then?.digests);
});

test('tables have digests and indexes of their own, however long their names are', async () => {
  const base = domain({ name: 'tried', roles: ['clerk'] });
  const long = (end: string) => `reimbursementOfTravelExpensesAbroad${end}`;
  const kinds = ['One', 'Two'].map((end) =>
    base.aggregate(long(end), {
      names: { plural: `${long('In')}${'a'.repeat(8)}${end}`, graphql: end },
      owner: 'clerk',
      fields: {
        clerk: ref(base.user),
        title: line(9),
        ...Object.fromEntries(
          ['One', 'Two'].map((each) => [`${'a'.repeat(30)}${each}`, instant().optional().sort()]),
        ),
      },
      events: { made: { creates: ['title'] } },
      commands: { make: { emits: 'made' } },
      rights: { read: { anyone: true } },
    } as never),
  );
  const { pool } = readModel.side;
  await createReadModel(pool, tablesOf(assemble(base, kinds as never)), 'long_names');
  const { rows } = await pool.query<{ functions: number; indexes: number }>(
    `select (select count(*) from pg_proc where pronamespace = 'long_names'::regnamespace and proname like 'keep\\_digest%') as functions,
       (select count(*) from pg_indexes where schemaname = 'long_names' and tablename like 'reimbursement%') as indexes`,
  );
  // Users, webhooks and these two: one each for inserts, updates and deletes.
  expect(rows).toEqual([{ functions: 12, indexes: 2 * 7 }]);
});
