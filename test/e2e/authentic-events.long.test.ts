import { join } from 'node:path';
import { expect } from 'vitest';
import { openPool } from '#shared/database/pool.ts';
import { until } from '../../testing/until.ts';
import { callLine } from '../engines/call-line.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { test as base } from '../engines/installation-fixture.ts';

type Parked = { readonly stream: string; readonly version: number; readonly reason: string };
type Readiness = { readonly status: string; readonly reasons?: Readonly<Record<string, string>> };
type Status = { readonly readModel: { readonly parked: number }; readonly followers: readonly Follower[] };
type Follower = { readonly name: string; readonly behindSeconds: number | null };

const FORGED = 'Forged by SQL';

/** Somebody who can write SQL, and nothing else, inserts an event into the log of an installation. */
const test = base
  .extend('pool', { scope: 'file' }, ({ installation }, { onCleanup }) => {
    const pool = openPool({
      ...{ url: installation.settings.DATABASE_URL ?? '', applicationName: 'test', connectionsMax: 1 },
    });
    onCleanup(() => pool[Symbol.asyncDispose]());
    return pool;
  })
  .extend('get', { scope: 'file' }, ({ ask, people }) => async <Body>(path: string, headers = {}) => {
    const answer = await ask('GET', path, { token: people.administrator.token, headers });
    return { status: answer.status, body: answer.body as Body };
  })
  .extend('write', { scope: 'file' }, ({ ada, ask }) => async (title: string) => {
    const { body, headers } = await ask('POST', '/articles', {
      token: ada.token,
      body: { title, body: '', tags: [] },
    });
    const { id } = body as { id: number };
    return {
      id,
      path: `/articles/${id}`,
      stream: `article-${id}`,
      at: headers.get('consistency-token') ?? '',
    };
  })
  .extend('line', { scope: 'file' }, ({ installation }) => async (...args: string[]) => {
    const called = await callLine(installation.settings, args);
    expect(`${called.output}\n${called.complaint}`).not.toMatch(/^ +at /m);
    return called;
  })
  .extend('items', { scope: 'file' }, async ({ ada, ask, get, pool, write }) => {
    const parked = await write('To be parked');
    const edited = await ask('PATCH', parked.path, { token: ada.token, body: { title: 'Edited' } });
    expect(edited.status).toBe(200);
    // The edit once more, with another title, at the next version, with the MAC of the edit.
    await pool.query(
      `insert into event_log.event (position, stream, version, id, type, data, metadata, bytes, mac)
       select (select max(position) + 1 from event_log.event), stream, version + 1, gen_random_uuid(), type,
         replace(data::text, 'Edited', $2)::json, metadata, bytes, mac
       from event_log.event where stream = $1 and version = 2`,
      [parked.stream, FORGED],
    );
    await until(
      () => get<Status>('/operations'),
      ({ body }) => body.readModel.parked === 1,
    );
    return { parked, other: await write('As ever') };
  });

test('a forged event parks its item, and all others go on', async ({ ada, ask, get, items: { other } }) => {
  expect(await get(other.path, { 'consistency-token': other.at })).toMatchObject({ status: 200 });
  const edited = await ask('PATCH', other.path, { token: ada.token, body: { title: 'Still' } });
  expect(edited.status).toBe(200);
  await until(
    () => get<Status>('/operations'),
    ({ body }) => body.followers.every(({ behindSeconds }) => behindSeconds === 0),
  );
});

test('operators are told that no command wrote it', async ({ get, items: { parked }, line }) => {
  const { body } = await get<readonly Parked[]>('/operations/parked');
  expect(body).toMatchObject([
    {
      stream: parked.stream,
      version: 3,
      reason: expect.stringMatching(/^event_not_authentic: no command wrote/),
    },
  ]);
  const { reasons } = (await get<Readiness>('/readyz')).body;
  expect(reasons?.['authentic events']).toContain(
    `an event that no command wrote, first version 3 of ${parked.stream}`,
  );
  expect(reasons?.['parked items']).toContain('(event_not_authentic)');
  expect((await line('projection', 'parked')).output).toContain('event_not_authentic');
});

test('no read shows it, and no command builds on it', async ({ ada, ask, get, items: { parked }, line }) => {
  for (const [method, body] of [
    ['GET', undefined],
    ['PATCH', { title: 'Never' }],
  ] as const)
    expect(await ask(method, parked.path, { token: ada.token, body })).toMatchObject({
      status: 503,
      body: { code: 'parked' },
    });
  for (const path of [`${parked.path}/history`, '/events?limit=100', '/audit/export', `${parked.path}?at=v3`])
    expect(JSON.stringify((await get(path)).body)).not.toContain(FORGED);
  await using folder = await temporaryDataDir();
  const shown = await line('log', 'show', parked.stream, '--json');
  expect(shown.output).not.toContain(FORGED);
  expect((await line('log', 'export', join(folder.path, 'export'))).exit).toBe(0);
  expect((await line('projection', 'rebuild')).exit).toBe(0);
  expect(await get(parked.path)).toMatchObject({ status: 503 });
});

test('verification names it, also in the background', async ({ get, items: { parked }, line }) => {
  const verified = await line('audit', 'verify');
  expect(verified.exit).toBe(1);
  expect(verified.output).toContain('event not authentic');
  expect(verified.output).toContain(`"stream":"${parked.stream}","version":3`);
  expect(verified.output).not.toContain('event changed');
  expect(verified.output).not.toContain('event inserted');
  await until(
    () => get<{ readonly differences: readonly { kind: string; stream: string }[] }>('/audit/status'),
    ({ body }) =>
      body.differences?.some(
        ({ kind, stream }) => kind === 'event_not_authentic' && stream === parked.stream,
      ),
    90_000,
  );
});

test('once it is skipped, the item is read and written as before', async ({
  ada,
  ask,
  get,
  items: { parked },
  line,
}) => {
  expect((await line('projection', 'release', parked.stream, '--yes')).exit).toBe(0);
  expect(await get(parked.path)).toMatchObject({ status: 200, body: { title: 'Edited' } });
  const edited = await ask('PATCH', parked.path, { token: ada.token, body: { title: 'Back' } });
  expect(edited.status).toBe(200);
  await until(
    () => get<{ title: string }>(parked.path),
    ({ body }) => body.title === 'Back',
  );
});

test('an operator rejects it, and everything is proven again', async ({ items: { parked }, line }) => {
  expect((await line('audit', 'verify')).exit).toBe(1);
  const rejected = await line('audit', 'reject', parked.stream, '--version', '3', '--yes');
  expect(rejected, rejected.complaint).toMatchObject({ exit: 0 });
  const verified = await line('audit', 'verify');
  expect(verified.output).toContain('Proven');
  expect((await line('audit', 'reject', '--all', '--yes')).output).toContain('No such event');
});

test('an operator accepts an event of an earlier release', async ({ ada, ask, get, line, pool, write }) => {
  const item = await write('Written before');
  await pool.query(
    `insert into event_log.event (position, stream, version, id, type, data, metadata, bytes)
     select (select max(position) + 1 from event_log.event), stream, 2, gen_random_uuid(), 'article.edited',
       json_build_object('articleId', $2::bigint, 'authorId', data -> 'authorId', 'title', 'Of another release'), metadata, bytes
     from event_log.event where stream = $1 and version = 1`,
    [item.stream, item.id],
  );
  await until(
    () => get<Status>('/operations'),
    ({ body }) => body.readModel.parked === 1,
  );
  const accepted = await line('audit', 'accept', item.stream, '--version', '2', '--yes');
  expect(accepted, accepted.complaint).toMatchObject({ exit: 0 });
  const retried = await line('projection', 'retry', '--all');
  expect(retried, retried.output).toMatchObject({ exit: 0 });
  expect(await get(item.path)).toMatchObject({ status: 200, body: { title: 'Of another release' } });
  await until(
    () => ask('PATCH', item.path, { token: ada.token, body: { title: 'Goes on' } }),
    ({ status }) => status === 200,
    90_000,
  );
  const verified = await line('audit', 'verify');
  expect(verified.output).toContain('Proven');
});
