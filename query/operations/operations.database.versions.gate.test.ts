// Over 200 lines, because all lists for operators read the one database filled here.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { formatKey } from '#edge/rest/pages.ts';
import type { StreamName } from '#kernel/base/brands.ts';
import { readConsequences } from '#process/operations/consequences.ts';
import { readTimers } from '#process/operations/timers.ts';
import { listParked } from '#shared/read-model/parked.ts';
import type { OperationsStatus, OperatorCommand, ParkedItem } from '#shared/rest/operator.ts';
import { test as base } from '../../test/engines/backend.ts';
import { appendRaw, untilProjected } from '../../test/engines/projection.ts';

/** No role executes the operator commands of this test. */
const STREAMS = [8001, 8002, 8003].map((id) => `article-${id}`);
const test = base
  .extend('post', { scope: 'file' }, ({ admin, backend }) => (path: string, { key, body }: Posted = {}) => {
    return backend.ask(path, {
      by: admin,
      method: 'POST',
      ...(body && { body }),
      headers: key ? { 'idempotency-key': key } : {},
    });
  })
  /** The ids of all pages, following links. */
  .extend('walk', { scope: 'file' }, ({ admin, backend }) => async (rel: 'next' | 'prev', from: string) => {
    const pages: string[][] = [];
    for (let next: string | undefined = from; next !== undefined; ) {
      const { body } = await backend.ask(next, { by: admin, headers: { accept: 'application/hal+json' } });
      const page = body as Page;
      pages.push(page._embedded.items.map(({ stream, id }) => id ?? stream ?? ''));
      next = page._links[rel]?.href;
    }
    return pages;
  });

test.beforeAll(async ({ backend: { side } }) => {
  for (const stream of STREAMS) await appendRaw(side, stream, { type: 'article.engraved', data: {} });
  await untilProjected(side);
});

type Posted = { readonly key?: string; readonly body?: object };
type Page = {
  readonly _links: Readonly<Record<string, { readonly href: string }>>;
  readonly _embedded: { readonly items: readonly (Partial<ParkedItem> & Partial<OperatorCommand>)[] };
};

test('parked aggregates come in pages, the latest first, with the possible actions', async ({
  admin,
  backend,
  walk,
}) => {
  const [one, two, three] = STREAMS;
  expect(await walk('next', '/operations/parked?limit=2')).toEqual([[three, two], [one]]);
  const { body } = await backend.ask('/operations/parked?limit=1', { by: admin });
  expect(body).toMatchObject([
    { stream: three, version: 1, _links: { item: { href: '/articles/8003' }, release: { method: 'POST' } } },
  ]);
  const { body: seen } = await backend.ask('/operations/parked?limit=1', {
    by: { ...admin, scopes: ['read:events'] },
  });
  expect((seen as ParkedItem[])[0]?._links).not.toHaveProperty('release');
  expect(await backend.ask('/operations', { by: admin })).toMatchObject({
    status: 200,
    body: { readModel: { parked: 3, rebuild: null } },
  });
});

test('of items that were parked at one position, as those of cut streams are, none is missing in the pages', async ({
  admin,
  backend: { ask, side },
  walk,
}) => {
  const cut = ['article-8101', 'article-8102', 'article-8103'];
  await side.pool.query(
    `insert into read_model.parked (stream, version, position, type, reason)
     select stream, 1, 0, '', 'stream_cut: stream ' || stream || ' lacks version 1' from unnest($1::text[]) stream`,
    [cut],
  );
  const pages = await walk('next', '/operations/parked?limit=1');
  expect(pages.flat()).toEqual([...STREAMS.toReversed(), ...cut.toReversed()]);
  const { body } = await ask('/operations/parked', { by: admin });
  expect((body as ParkedItem[]).at(-1)?._links).not.toHaveProperty('release');
  const listed = await Array.fromAsync(listParked(side.pool, 2));
  expect(listed.flat().map(({ stream }) => stream)).toEqual([...cut, ...STREAMS]);
  await side.pool.query('delete from read_model.parked where stream = any($1)', [cut]);
});

test('failed consequences of deletions come in pages, the last parked first', async ({
  admin,
  backend,
  walk,
}) => {
  const park = (task: string, stream: string, minutesAgo: number, skipped = false) =>
    backend.side.pool.query(
      `insert into process_manager.parked (task, stream, cause_id, cause_metadata, reason, parked_at, next_at, skipped_at)
       values ($1, $2, $3, '{}', 'No key.', now() - $4 * interval '1 minute', now() + interval '4 minutes', case when $5 then now() end)`,
      [task, stream, randomUUID(), minutesAgo, skipped],
    );
  await park('end', 'comment-1', 30);
  await park('erase', 'user-2', 20);
  await park('end', 'article-3', 10, true);
  expect(await walk('next', '/operations/consequences?limit=2')).toEqual([
    ['article-3', 'user-2'],
    ['comment-1'],
  ]);
  expect(await walk('prev', '/operations/consequences?limit=2')).toEqual([['article-3', 'user-2']]);
  const { body } = await backend.ask('/operations/consequences', { by: admin });
  expect(body).toMatchObject([
    { task: 'end', stream: 'article-3', nextAt: null, skippedAt: expect.any(String) },
    {
      task: 'erase',
      stream: 'user-2',
      reason: 'No key.',
      attempts: 1,
      skippedAt: null,
      _links: { item: { href: '/users/2' } },
    },
    { stream: 'comment-1', nextAt: expect.any(String) },
  ]);
  const { consequences } = (await backend.ask('/operations', { by: admin })).body as OperationsStatus;
  expect(consequences).toMatchObject({ parked: 2, skipped: 1 });
  expect(Math.floor((consequences.oldestSeconds ?? 0) / 60)).toBe(30);
  expect(await backend.ask('/operations/consequences', { by: await backend.person('reader') })).toMatchObject(
    {
      status: 403,
    },
  );
  await backend.side.pool.query('truncate process_manager.parked');
});

test('timers come in pages, the next first and parked ones last', async ({ admin, backend, walk }) => {
  expect((await backend.ask('/operations/timers', { by: admin })).body).toEqual([]);
  await backend.side.pool.query(`insert into process_manager.timer (stream, name, cause_id, cause_metadata, due_at, left_ms) values
    ('claim-3', 'remind', gen_random_uuid(), '{}', null, 1500),
    ('claim-1', 'remind', gen_random_uuid(), '{}', '2030-01-01', null),
    ('claim-2', 'remind', gen_random_uuid(), '{}', '2029-01-01', null)`);
  expect(await walk('next', '/operations/timers?limit=2')).toEqual([['claim-2', 'claim-1'], ['claim-3']]);
  expect((await backend.ask('/operations/timers', { by: admin })).body).toMatchObject([
    { dueAt: '2029-01-01T00:00:00.000Z', leftSeconds: null },
    {},
    { dueAt: null, leftSeconds: 1.5 },
  ]);
  expect(await backend.ask('/operations/timers', { by: await backend.person('reader') })).toMatchObject({
    status: 403,
  });
  const strange = formatKey('/operations/timers', 'no key');
  expect(await backend.ask(`/operations/timers?after=${strange}`, { by: admin })).toMatchObject({
    status: 400,
    body: { code: 'unknown_cursor' },
  });
  await backend.side.pool.query('truncate process_manager.timer');
});

test('schedules come in pages by name, with the outcome of their latest run', async ({ admin, backend }) => {
  const { pool } = backend.side;
  expect((await backend.ask('/operations/schedules', { by: admin })).body).toEqual([]);
  await pool.query(`insert into process_manager.schedule (name, timing, after_at, next_at, wake_at)
    select name, '["0 3 * * *","UTC"]', 'infinity', '2030-01-01', 'infinity' from unnest('{c,a,b}'::text[]) as t (name)`);
  await pool.query(`insert into process_manager.schedule_run (schedule, time_at, cause_id, commands, is_noted) values
    ('a', '2029-01-01', gen_random_uuid(), 7, true), ('a', '2029-01-02', gen_random_uuid(), 2, true), ('b', '2029-01-01', gen_random_uuid(), 0, false)`);
  const first = await backend.ask('/operations/schedules?limit=2', { by: admin });
  const next = String(/<([^>]*)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1]);
  const rest = await backend.ask(new URL(next, backend.url).pathname + new URL(next, backend.url).search, {
    by: admin,
  });
  expect([first.body, rest.body]).toMatchObject([
    [
      {
        name: 'a',
        cron: '0 3 * * *',
        timeZone: 'UTC',
        lastAt: '2029-01-02T00:00:00.000Z',
        state: 'done',
        commands: 2,
      },
      { name: 'b', state: 'running', failed: 0, reason: null },
    ],
    [{ name: 'c', nextAt: '2030-01-01T00:00:00.000Z', lastAt: null, state: null, missedAt: null }],
  ]);
  const others = await backend.ask('/operations/schedules', { by: await backend.person('reader') });
  expect(others).toMatchObject({ status: 403 });
  await pool.query('truncate process_manager.schedule, process_manager.schedule_run');
});

test('a page of consequences reads indexes, and none is missing or repeated if many are parked at once', async ({
  backend,
}) => {
  const { pool } = backend.side;
  await pool.query('truncate process_manager.parked');
  await pool.query(`insert into process_manager.parked (task, stream, cause_id, cause_metadata, reason, parked_at, next_at)
    select 'end', 'claim-' || n, gen_random_uuid(), '{}', '', timestamptz '2030-01-01 00:00:00.000001' + n / 900 * interval '1 second', now() from generate_series(1, 3000) n`);
  await pool.query(`insert into process_manager.task (task, stream, name, cause_id, cause_metadata, reason, attempts, parked_at, next_at)
    select 'run', 'claim-' || n / 3, 'items.of/a%20b team.closed', gen_random_uuid(), '{}', '', 1, timestamptz '2030-01-01 00:00:00.000001' + n / 900 * interval '1 second', now()
    from generate_series(1, 3000) n`);
  await pool.query('analyze process_manager.parked, process_manager.task');
  const asked: unknown[][] = [];
  const query = (...given: unknown[]) => {
    asked.push(given);
    return pool.query(...(given as [string]));
  };
  const walked = async (isBackward: boolean): Promise<readonly string[]> => {
    const keys: string[] = [];
    for (let edge: string | undefined; ; ) {
      const bounds = isBackward ? { after: undefined, before: edge } : { after: edge, before: undefined };
      const page = await readConsequences({ query } as never, { ...bounds, isBackward, rowsMax: 700 });
      keys.push(...page.map(({ key }) => key));
      edge = page.at(-1)?.key;
      if (page.length < 700) return keys;
    }
  };
  const keys = await walked(false);
  expect([keys.length, new Set(keys).size]).toEqual([6_000, 6_000]);
  expect(await walked(true)).toEqual(keys.toReversed());
  for (const [text, values] of asked.filter(([sql]) => String(sql).includes('union all'))) {
    const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (format json) ${text}`,
      values as never,
    );
    expect(rows[0]?.['QUERY PLAN'].flatMap(({ Plan }) => nodesOf(Plan))).not.toContain('Seq Scan');
  }
  await pool.query('truncate process_manager.parked, process_manager.task');
});

type Plan = { readonly 'Node Type': string; readonly Plans?: readonly Plan[] };
const nodesOf = (plan: Plan): readonly string[] => [
  plan['Node Type'],
  ...(plan.Plans ?? []).flatMap(nodesOf),
];

test('a page of timers reads an index, however many there are', async ({ backend }) => {
  const { pool } = backend.side;
  await pool.query(`insert into process_manager.timer (stream, name, cause_id, cause_metadata, due_at, left_ms)
    select 'claim-' || n, 'remind', gen_random_uuid(), '{}', case when n % 3 = 0 then null else timestamptz '2030-01-01' + n * interval '1 minute' end,
      case when n % 3 = 0 then n end from generate_series(1, 3000) n`);
  await pool.query('analyze process_manager.timer');
  const asked: unknown[][] = [];
  const query = (...given: unknown[]) => {
    asked.push(given);
    return pool.query(...(given as [string]));
  };
  const seen = new Set<string>();
  for (let after: string | undefined; ; ) {
    const page = await readTimers({ query } as never, {
      stretch: { after, before: undefined, isBackward: false, rowsMax: 700 },
    });
    for (const { stream } of page) seen.add(stream);
    after = page.at(-1)?.key;
    if (page.length < 700) break;
  }
  expect(seen.size).toBe(3_000);
  const [text, values] = asked.at(-1) ?? [];
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (format json) ${text}`,
    values as never,
  );
  expect(rows[0]?.['QUERY PLAN'].flatMap(({ Plan }) => nodesOf(Plan))).not.toContain('Sort');
  await pool.query('truncate process_manager.timer');
});

test('the timers of one aggregate come in pages too', async ({ backend }) => {
  const { pool } = backend.side;
  await pool.query(`insert into process_manager.timer (stream, name, cause_id, cause_metadata, due_at)
    select 'claim-' || n % 2, 'remind' || n, gen_random_uuid(), '{}', timestamptz '2030-01-01' + n * interval '1 minute' from generate_series(1, 6) n`);
  const names: string[] = [];
  for (let after: string | undefined; ; ) {
    const stretch = { after, before: undefined, isBackward: false, rowsMax: 1 };
    const [timer] = await readTimers(pool, { stretch, stream: 'claim-1' as StreamName });
    if (timer === undefined) break;
    names.push(timer.name);
    after = timer.key;
  }
  expect(names).toEqual(['remind1', 'remind3', 'remind5']);
  await pool.query('truncate process_manager.timer');
});

test('a repeated key returns the same command, and is refused for another one', async ({ post }) => {
  const key = randomUUID();
  const first = await post('/operations/parked/article-8001/release', { key, body: { version: 1 } });
  const again = await post('/operations/parked/article-8001/release', { key, body: { version: 1 } });
  expect([first.status, again.status]).toEqual([202, 202]);
  expect(again.body).toEqual(first.body);
  expect(again.headers.get('location')).toBe(`/operations/orders/${(first.body as OperatorCommand).id}`);
  const other = await post('/operations/parked/article-8002/retry', { key });
  expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
});

test('a useless command is refused at once', async ({ post }) => {
  expect(await post('/operations/parked/article-7/retry')).toMatchObject({
    status: 404,
    body: { code: 'not_parked' },
  });
  expect(await post('/operations/parked/nothing/retry')).toMatchObject({
    status: 404,
    body: { code: 'not_parked' },
  });
  const other = await post('/operations/parked/article-8001/release', { body: { version: 2 } });
  expect(other).toMatchObject({
    status: 409,
    body: { code: 'parked_at_other_version', details: { version: 1 } },
  });
  const { body } = await post('/audit/verifications');
  const second = await post('/audit/verifications');
  expect(second).toMatchObject({
    status: 409,
    body: { code: 'verification_under_way', details: { order: (body as OperatorCommand).id } },
  });
});

test('operator commands come in pages, the latest first, and one by one', async ({
  admin,
  backend,
  post,
  walk,
}) => {
  await post('/operations/parked/article-8002/retry');
  const pages = await walk('next', '/operations/orders?limit=2');
  const ids = pages.flat();
  expect(ids).toEqual(ids.toSorted().toReversed());
  expect(pages.map(({ length }) => length)).toEqual([2, 1]);
  const { body } = await backend.ask(`/operations/orders/${ids[0]}`, { by: admin });
  expect(body).toMatchObject({
    kind: 'retry',
    stream: 'article-8002',
    state: 'waiting',
    by: `user:${admin.id}`,
    outcome: null,
  });
  const forged = Buffer.from(JSON.stringify(['forged', 'no id'])).toString('base64url');
  expect(await backend.ask(`/operations/orders?after=${forged}`, { by: admin })).toMatchObject({
    status: 400,
  });
  expect(await backend.ask(`/operations/orders/${randomUUID()}`, { by: admin })).toMatchObject({
    status: 404,
    body: { code: 'order_not_found' },
  });
});
