import { expect } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import type { Report } from '#shared/rest/verification-report.ts';
import { as, by } from '../../test/engines/command-side.ts';
import { appendRaw, untilProjected } from '../../test/engines/projection.ts';
import { test as base } from '../../test/engines/verified-read-model.ts';

const OPEN = 'alter table event_log.event disable trigger append_only;';
const CLOSE = 'alter table event_log.event enable trigger append_only;';

const test = base
  .extend('edit', { scope: 'file' }, ({ authors, readModel: { article, side } }) => (title: string) => {
    const author = authors[0] as UserId;
    return side.send({ type: 'EditArticle', articleId: article, title }, by(as(author)));
  })
  .extend('model', { scope: 'file' }, async ({ edit, readModel }) => {
    for (const title of ['One', 'Two', 'Three']) await edit(title);
    await untilProjected(readModel.side);
    await readModel.sign();
    return readModel;
  })
  /** Simulates an attacker with full access to the database of the log. */
  .extend('verifyTampered', { scope: 'file' }, ({ model }) => (statement: string, undo: string) => {
    const opened = (change: string) => `${OPEN} ${change}; ${CLOSE}`;
    return model.verifyTampered(opened(statement), opened(undo));
  });

const kindsOf = ({ findings }: Report) => Object.keys(findings.byKind);

test('an untouched signed log is proven completely', async ({ model }) => {
  const report = await model.verify();
  expect(report.findings.listed).toEqual([]);
  expect(report).toMatchObject({
    outcome: 'proven',
    chain: { chained: report.log.events, signed: report.log.events, unproven: { events: 0 } },
  });
});

test('events after the newest signed head are reported as unproven', async ({ edit, model }) => {
  await edit('Four');
  await untilProjected(model.side);
  const { log, chain, outcome } = await model.verify();
  expect({ outcome, unproven: chain.unproven.events, since: chain.unproven.since }).toEqual({
    outcome: 'proven',
    unproven: log.events - chain.signed,
    since: expect.any(String),
  });
  expect(chain.unproven.events).toBeGreaterThan(0);
  await model.sign();
});

test('a changed event is found by the chain, and by the rows that depend on it', async ({
  model,
  verifyTampered,
}) => {
  const title = (from: string, to: string) =>
    `update event_log.event set data = replace(data::text, '"${from}"', '"${to}"')::json where stream = 'article-${model.article}'`;
  const report = await verifyTampered(title('Four', 'Forged'), title('Forged', 'Four'));
  expect(kindsOf(report)).toEqual(expect.arrayContaining(['row_different', 'event_changed']));
  expect(report.findings.listed).toContainEqual(
    expect.objectContaining({
      kind: 'row_different',
      key: String(model.article),
      columns: [{ name: 'title', recorded: 'Forged', found: 'Four' }],
    }),
  );
});

test('an event with another version leaves a gap, and a removed one a hole', async ({
  model,
  verifyTampered,
}) => {
  const last = `stream = 'article-${model.article}' and version`;
  const moved = await verifyTampered(
    `update event_log.event set version = 9 where ${last} = 4`,
    `update event_log.event set version = 4 where ${last} = 9`,
  );
  expect(moved.findings.listed).toContainEqual(
    expect.objectContaining({
      kind: 'version_gap',
      stream: `article-${model.article}`,
      before: 3,
      version: 9,
    }),
  );
  const removed = await verifyTampered(
    `create table public.removed as select * from event_log.event where ${last} = 4; delete from event_log.event where ${last} = 4`,
    `insert into event_log.event select * from public.removed; drop table public.removed`,
  );
  expect(kindsOf(removed)).toEqual(expect.arrayContaining(['position_gap', 'version_gap', 'event_missing']));
});

test('an emptied event is found', async ({ model, verifyTampered }) => {
  const { pool } = model.side;
  await pool.query(`create table public.emptied as select * from event_log.event where position in (2, 3)`);
  const report = await verifyTampered(
    `update event_log.event set data = 'null' where position = 2; update event_log.event set metadata = 'null' where position = 3`,
    'update event_log.event e set data = k.data, metadata = k.metadata from public.emptied k where k.position = e.position; drop table public.emptied',
  );
  expect(kindsOf(report)).toEqual(expect.arrayContaining(['row_missing', 'event_changed']));
});

test('damage to a past event is found, even if no live row depends on it', async ({ edit, model }) => {
  const at = await model.side.eventLog.head();
  await edit('Later');
  await edit('Four');
  await untilProjected(model.side);
  const set = (value: string) =>
    `update event_log.event set data = replace(data::text, '"tags":', '${value}":')::json where version = 1`;
  await model.side.pool.query(`${OPEN} ${set('"wags')} and stream = 'article-${model.article}'; ${CLOSE}`);
  const { findings } = await model.verify({ at });
  const undo = set('"tags').replace(`'"tags":'`, `'"wags":'`);
  await model.side.pool.query(`${OPEN} ${undo} and stream = 'article-${model.article}'; ${CLOSE}`);
  expect(findings.listed).toContainEqual(
    expect.objectContaining({ kind: 'event_damaged', stream: `article-${model.article}`, version: 1 }),
  );
  expect((await model.verify({ at })).outcome).toBe('proven');
});

test('a duplicate id is found', async ({ model, verifyTampered }) => {
  const id = `(select id from event_log.event where position = 1)`;
  const { rows } = await model.side.pool.query<{ id: string }>(
    'select id from event_log.event where position = 2',
  );
  const { findings } = await verifyTampered(
    `alter table event_log.event drop constraint event_id_key; update event_log.event set id = ${id} where position = 2`,
    `update event_log.event set id = '${rows[0]?.id}' where position = 2; alter table event_log.event add unique (id)`,
  );
  expect(findings.listed).toContainEqual(
    expect.objectContaining({ kind: 'event_id_repeated', positions: [1, 2] }),
  );
});

test('a truncated log is found, whatever was truncated with it', async ({ model, verifyTampered }) => {
  await model.sign();
  const { rows } = await model.side.pool.query<{ position: number }>(
    'select max(position) as position from event_log.event',
  );
  const head = rows[0]?.position ?? 0;
  const { findings } = await verifyTampered(
    `create table public.cut as select * from event_log.event where position = ${head}; delete from event_log.event where position = ${head}`,
    `insert into event_log.event select * from public.cut; drop table public.cut`,
  );
  expect(findings.listed).toContainEqual({
    kind: 'log_shorter_than_read_model',
    head: head - 1,
    readModel: head,
  });
  expect(findings.listed).toContainEqual(expect.objectContaining({ kind: 'log_cut', source: 'file' }));
});

test('a past read model is proven by its signed digest', async ({ edit, model }) => {
  const { pool, eventLog } = model.side;
  const { rows } = await pool.query<{ position: number }>(
    `select max((statement::json->'readModel'->>'position')::bigint) as position from audit.head`,
  );
  const signedAt = rows[0]?.position;
  await edit('Five');
  const at = await eventLog.head();
  await edit('Four');
  await untilProjected(model.side);
  expect(await model.verify({ at })).toMatchObject({
    outcome: 'proven',
    readModel: { position: at, signedDigest: { position: signedAt } },
  });
});

test('a changed digest of the projector is found', async ({ model }) => {
  const change = (by: number) => `update read_model.digest set low = low + ${by} where name = 'articles'`;
  const { findings } = await model.verifyTampered(change(1), change(-1));
  expect(findings).toMatchObject({
    total: 1,
    listed: [{ kind: 'kept_digest_different', table: 'articles' }],
  });
});

test('the log can be verified without the read model', async ({ model }) => {
  const change = `update read_model.articles set title = 'Forged' where id = ${model.article}`;
  const undo = `update read_model.articles set title = 'Four' where id = ${model.article}`;
  await model.side.pool.query(change);
  const { outcome, readModel } = await model.verify({ isOfReadModel: false });
  await model.side.pool.query(undo);
  expect({ outcome, readModel }).toEqual({ outcome: 'proven', readModel: null });
});

test('a damaged event without rows is found', async ({ model }) => {
  const { position } = await appendRaw(model.side, 'command-damaged', {
    type: 'command.reserved',
    data: { digest: 1 },
  });
  await untilProjected(model.side);
  const { findings } = await model.verify();
  expect(findings).toMatchObject({
    total: 1,
    listed: [{ kind: 'event_damaged', stream: 'command-damaged', position, type: 'command.reserved' }],
  });
});
