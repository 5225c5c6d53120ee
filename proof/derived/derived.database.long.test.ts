// Over 200 lines, because every test tampers with the one database that is filled here.
import { pino } from 'pino';
import { expect } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import { openPostgresChangeStream } from '#shared/change-stream/postgres/postgres-change-stream.ts';
import { EVENT_INDEX } from '#shared/event-index/event-index.ts';
import { createCheckPerson } from '#shared/persons/check-person.ts';
import { DIRECTORY } from '#shared/persons/directory.ts';
import { createReadPerson } from '#shared/persons/read-person.ts';
import { openReadModelNotifier } from '#shared/read-model/read-model.ts';
import { createRowProofs } from '#shared/row-proofs/row-proofs.ts';
import { PLANNER } from '#shared/webhooks/planner.ts';
import { openDirectory } from '../../auth/directory.ts';
import { startEventIndex } from '../../projector/role.ts';
import { untilProjected } from '../../test/engines/projection.ts';
import { test as base } from '../../test/engines/verified-read-model.ts';
import { until } from '../../testing/until.ts';
import { migrateLedger } from '../../webhook-dispatcher/ledger/migrate.ts';
import { startPlanner } from '../../webhook-dispatcher/plan.ts';
import { readChainEnd } from '../stored/blocks.ts';
import { step } from '../watch/step.ts';

const log = pino({ level: 'silent' });

const test = base
  /** With an index of all events, a plan of all deliveries and a directory of persons, which have stopped. */
  .extend('planned', { scope: 'file' }, async ({ readModel }) => {
    const { side } = readModel;
    const { pool, eventLog } = side;
    await migrateLedger(pool);
    for (const author of readModel.authors.slice(0, 2)) await readModel.writeSome(author);
    await untilProjected(side);
    const own = () => ({ ...side, log, metrics: createMetrics() });
    await using notifier = openReadModelNotifier({ url: side.databaseUrl, clock: side.clock });
    await using changes = openPostgresChangeStream({ ...side, notifier });
    await using _index = await startEventIndex(own());
    await using _planner = await startPlanner({ ...own(), changes, planned() {} });
    const rowProofs = createRowProofs({ masterKey: side.masterKey, log });
    const checkPerson = createCheckPerson({ ...own(), readPerson: createReadPerson(side) });
    await using _persons = await openDirectory({
      ...own(),
      rowProofs,
      checkPerson,
      revokeUser: async () => {},
    });
    const head = await eventLog.head();
    await until(
      async () =>
        (
          await pool.query<{ position: number }>(
            'select position from public.follower_checkpoint where follower = any($1)',
            [[EVENT_INDEX, PLANNER, DIRECTORY]],
          )
        ).rows,
      (rows) => rows.length === 3 && rows.every(({ position }) => position >= head),
    );
    await readModel.sign();
    return readModel;
  })
  /** The findings of a verification, and those of a complete round of the watch. */
  .extend('findBoth', { scope: 'file' }, ({ planned: { side, verify } }) => async () => {
    const { findings } = await verify();
    const signal = new AbortController().signal;
    const differences = [];
    for (;;) {
      const taken = await step({ ...side, signal });
      differences.push(...taken.differences);
      if (taken.isEnd) break;
    }
    return { findings: findings.listed, total: findings.total, differences };
  })
  .extend(
    'tampered',
    { scope: 'file' },
    ({ findBoth, planned: { side } }) =>
      async (table: string, change: string) => {
        await side.pool.query(`create table public.kept as select * from ${table}`);
        try {
          await side.pool.query(change);
          return await findBoth();
        } finally {
          const { rows } = await side.pool.query<{ names: string }>(
            `select string_agg(quote_ident(attname), ', ') as names from pg_attribute
         where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
            [table],
          );
          const names = rows[0]?.names;
          await side.pool.query(
            `begin; delete from ${table}; insert into ${table} (${names}) select ${names} from public.kept; drop table public.kept; commit`,
          );
        }
      },
  );

test('an intact index and plan are proven, by the watch too', async ({ findBoth, planned }) => {
  const { pool } = planned.side;
  expect((await pool.query('select from webhook_ledger.delivery')).rowCount).toBeGreaterThan(0);
  expect((await readChainEnd(pool)).position).toBe(await planned.side.eventLog.head());
  expect(await findBoth()).toEqual({ findings: [], total: 0, differences: [] });
});

const INDEX = 'event_index.event';
const MOMENT = 'event_index.moment';
const ENDPOINT = 'webhook_ledger.endpoint';
const MESSAGE = 'webhook_ledger.message';
const DELIVERY = 'webhook_ledger.delivery';
const PERSON = 'auth.person';
const first = (table: string) => `ctid = (select min(ctid) from ${table})`;

test.for([
  ['a row that hides an event', INDEX, `delete from ${INDEX} where position = 3`, 'derived_missing', []],
  [
    'another actor',
    INDEX,
    `update ${INDEX} set actor = 'user:9' where position = 3`,
    'derived_different',
    ['actor'],
  ],
  [
    'another id',
    INDEX,
    `update ${INDEX} set id = gen_random_uuid() where position = 3`,
    'derived_different',
    ['id'],
  ],
  [
    'a second row of an event',
    INDEX,
    `insert into ${INDEX} select * from ${INDEX} where position = 3`,
    'derived_extra',
    [],
  ],
  [
    'a row beyond the index, which hides the event of its id',
    INDEX,
    `insert into ${INDEX} (position, id, stream, version, type) select 999999, id, 'article-1', 1, type from ${INDEX} where position = 3`,
    'derived_extra',
    [],
  ],
  [
    'an earlier time, by which a former state would lack events',
    MOMENT,
    `update ${MOMENT} set latest_at = '2001-01-01'`,
    'derived_different',
    ['latest_at'],
  ],
  [
    'a webhook that was switched off',
    ENDPOINT,
    `update ${ENDPOINT} set status = 'disabled' where webhook_id = (select min(webhook_id) from ${ENDPOINT} where status = 'enabled')`,
    'derived_different',
    ['status'],
  ],
  [
    'a webhook with more scopes',
    ENDPOINT,
    `update ${ENDPOINT} set scopes = scopes || '{admin}' where ${first(ENDPOINT)}`,
    'derived_different',
    ['scopes'],
  ],
  [
    'a webhook that no event registered',
    ENDPOINT,
    `insert into ${ENDPOINT}
     (webhook_id, owner_id, version, status, event_types, scopes, payload, is_ordered, rate_per_second, concurrency)
     select 77, owner_id, 1, 'enabled', '{*}', scopes, payload, false, 1, 1 from ${ENDPOINT} where ${first(ENDPOINT)}`,
    'derived_extra',
    [],
  ],
  [
    'another content of a delivery',
    MESSAGE,
    `update ${MESSAGE} set change = replace(change, '"authorId":', '"authorid":') where ${first(MESSAGE)}`,
    'derived_different',
    ['change'],
  ],
  [
    'a message of no event',
    MESSAGE,
    `insert into ${MESSAGE} (event_id, position, change) select gen_random_uuid(), position, change from ${MESSAGE} where ${first(MESSAGE)}`,
    'derived_extra',
    [],
  ],
  [
    'a message that is gone',
    MESSAGE,
    `delete from ${MESSAGE} where ${first(MESSAGE)}`,
    'derived_missing',
    [],
  ],
  [
    'a delivery about another item',
    DELIVERY,
    `update ${DELIVERY} set subject = 'article-1' where ${first(DELIVERY)}`,
    'derived_different',
    ['subject'],
  ],
  [
    'a delivery to no webhook',
    DELIVERY,
    `update ${DELIVERY} set webhook_id = 78 where ${first(DELIVERY)}`,
    'derived_extra',
    [],
  ],
  [
    'an administrator whom no event made',
    PERSON,
    `update ${PERSON} set role = 'admin' where user_id = (select min(user_id) from ${PERSON} where role = 'author')`,
    'derived_different',
    ['role'],
  ],
  [
    'a later version with another role',
    PERSON,
    `update ${PERSON} set role = 'admin', version = 99 where user_id = (select min(user_id) from ${PERSON} where role = 'author')`,
    'derived_different',
    ['role'],
  ],
  [
    'a deleted account that is active again',
    PERSON,
    `update ${PERSON} set status = 'active' where status = 'deleted'`,
    'derived_different',
    ['status'],
  ],
  [
    'an account that is gone',
    PERSON,
    `delete from ${PERSON} where user_id = (select min(user_id) from ${PERSON} where role = 'author')`,
    'derived_missing',
    [],
  ],
] as const)('%s is found', async ([, table, change, kind, columns], { findBoth, tampered }) => {
  const found = await tampered(table, change);
  const expected = expect.objectContaining({ kind, table, columns });
  expect(found.findings).toContainEqual(expected);
  // Deliveries must be those that settings and contents demand.
  const others = found.findings.filter((finding) => !expected.asymmetricMatch(finding));
  for (const finding of others) expect(finding).toMatchObject({ table: DELIVERY });
  expect(found.differences.length).toBe(found.total);
  const fields = columns.length === 0 ? [table] : columns.map((column) => `${table}.${column}`);
  expect(found.differences).toContainEqual(expect.objectContaining({ kind, fields }));
  expect((await findBoth()).total).toBe(0);
});

test('a webhook that is removed from the plan is found', async ({ planned, tampered }) => {
  const found = await tampered(ENDPOINT, `delete from ${ENDPOINT} where webhook_id = ${planned.webhook}`);
  expect(found.findings).toContainEqual(
    expect.objectContaining({ kind: 'derived_missing', table: ENDPOINT, key: String(planned.webhook) }),
  );
});

test('the role of a deleted account counts nowhere, and 0.1.0 kept one', async ({ tampered }) => {
  const found = await tampered(PERSON, `update ${PERSON} set role = 'reader' where status = 'deleted'`);
  expect(found.total).toBe(0);
});

test('tables that their processes have not reached are compared as far as they have', async ({
  findBoth,
  planned,
}) => {
  const { pool } = planned.side;
  await pool.query(
    `create table public.kept as select * from public.follower_checkpoint where follower = '${EVENT_INDEX}';
     create table public.rows as select * from ${INDEX} where position > 5;
     delete from ${INDEX} where position > 5;
     update public.follower_checkpoint set position = 5 where follower = '${EVENT_INDEX}'`,
  );
  expect((await findBoth()).total).toBe(0);
  await pool.query(
    `update public.follower_checkpoint c set position = k.position from public.kept k where c.follower = k.follower;
     insert into ${INDEX} select * from public.rows; drop table public.kept, public.rows`,
  );
  expect((await findBoth()).total).toBe(0);
});
