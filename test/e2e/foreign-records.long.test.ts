// Over 200 lines, because it is one installation: everything that others do to its streams on a shared server.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { expect } from 'vitest';
import { follow } from '../../testing/http/event-source.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { until } from '../../testing/until.ts';
import { callLine } from '../engines/call-line.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { ours } from '../engines/eventstoredb/ours.ts';
import { type StandInOptions, startEventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { startInstallation } from '../engines/installation.ts';
import { test as base } from '../engines/installation-fixture.ts';

const foreign = () => jsonEvent({ type: 'article.edited', data: { total: 7 } });

type Parked = { readonly stream: string; readonly version: number; readonly reason: string };
type Followers = { readonly followers: readonly { name: string; behindSeconds: number | null }[] };
type Readiness = { readonly status: string; readonly reasons?: Readonly<Record<string, string>> };

/** Another application writes into the streams of an installation on EventStoreDB. */
const test = base
  .extend('standInOptions', { scope: 'file' }, {} as StandInOptions)
  .extend('standIn', { scope: 'file' }, async ({ standInOptions }, { onCleanup }) => {
    const standIn = await startEventStoreStandIn(standInOptions);
    onCleanup(() => standIn[Symbol.asyncDispose]());
    return standIn;
  })
  .extend('installationOptions', { scope: 'file' }, ({ standIn }) => ({
    settings: { EVENT_LOG_URL: standIn.address },
  }))
  .extend('neighbour', { scope: 'file' }, ({ standIn }, { onCleanup }) => {
    const client = EventStoreDBClient.connectionString(standIn.address);
    onCleanup(() => client.dispose());
    return client;
  })
  .extend('write', { scope: 'file' }, ({ ada, ask }) => async (title: string) => {
    const { body, headers } = await ask('POST', '/articles', {
      token: ada.token,
      body: { title, body: '', tags: [] },
    });
    const { id } = body as { id: number };
    return { path: `/articles/${id}`, stream: `article-${id}`, at: headers.get('consistency-token') ?? '' };
  })
  .extend('get', { scope: 'file' }, ({ ask, people }) => async <Body>(path: string, headers = {}) => {
    const answer = await ask('GET', path, { token: people.administrator.token, headers });
    return { status: answer.status, body: answer.body as Body };
  })
  .extend('line', { scope: 'file' }, ({ installation }) => async (...args: string[]) => {
    const called = await callLine(installation.settings, args);
    expect(`${called.output}\n${called.complaint}`).not.toMatch(/^ +at /m);
    return called;
  })
  /** An item with a foreign record, one of which nothing is ours, and another one. */
  .extend('items', { scope: 'file' }, async ({ neighbour, write }) => {
    const parked = await write('To be parked');
    await neighbour.appendToStream(ours(parked.stream), foreign());
    await neighbour.appendToStream(
      ours('article-77001'),
      jsonEvent({ type: 'order.placed', data: [1] as never }),
    );
    return { parked, other: await write('As ever') };
  });

test('if a foreign record parks an item, all others go on', async ({ ada, ask, get, items: { other } }) => {
  expect(await get(other.path, { 'consistency-token': other.at })).toMatchObject({ status: 200 });
  expect((await get(`${other.path}/history`)).status).toBe(200);
  expect((await get('/events')).status).toBe(200);
  const edited = await ask('PATCH', other.path, { token: ada.token, body: { title: 'Still' } });
  expect(edited.status).toBe(200);
  await until(
    () => get<Followers>('/operations'),
    ({ body }) => body.followers.every(({ behindSeconds }) => behindSeconds === 0),
  );
});

test('the parked item is named wherever operators look', async ({ get, items: { parked }, line }) => {
  const { body } = await get<readonly Parked[]>('/operations/parked');
  expect(body).toMatchObject([
    { stream: 'article-77001', version: 1, reason: expect.stringMatching(/^foreign_record: /) },
    { stream: parked.stream, version: 2, reason: expect.stringMatching(/^foreign_record: /) },
  ]);
  const readiness = await get<Readiness>('/readyz');
  expect(readiness).toMatchObject({ status: 200, body: { status: 'ready' } });
  expect(readiness.body.reasons?.['parked items']).toContain(
    `2 items are parked, first ${parked.stream} by its version 2 (foreign_record)`,
  );
  expect((await line('projection', 'parked')).output).toContain(`${parked.stream}@2`);
  const verified = await line('audit', 'verify');
  expect(verified.output).toContain(`${parked.stream}@2`);
  expect(verified.exit).toBe(0);
});

test('reads and writes of the parked item say so', async ({ ada, ask, items: { parked } }) => {
  for (const [method, body] of [
    ['GET', undefined],
    ['PATCH', { title: 'Never' }],
  ] as const)
    expect(await ask(method, parked.path, { token: ada.token, body })).toMatchObject({
      status: 503,
      body: { code: 'parked' },
    });
});

test('the command line reads on behind a foreign record', async ({ items: { parked }, line }) => {
  await using folder = await temporaryDataDir();
  expect((await line('log', 'tail', '--json')).exit).toBe(0);
  expect((await line('log', 'show', parked.stream)).exit).toBe(0);
  expect((await line('log', 'export', join(folder.path, 'export'))).exit).toBe(0);
  expect((await line('projection', 'rebuild')).exit).toBe(0);
});

test('once the record is skipped, the item is read and written as before', async ({
  ada,
  ask,
  get,
  items: { parked },
  line,
}) => {
  expect((await line('projection', 'release', parked.stream, '--yes')).exit).toBe(0);
  expect((await line('projection', 'release', 'article-77001', '--yes')).exit).toBe(0);
  expect(await get(parked.path)).toMatchObject({
    status: 200,
    body: { title: 'To be parked' },
  });
  const edited = await ask('PATCH', parked.path, { token: ada.token, body: { title: 'Back' } });
  expect(edited.status).toBe(200);
  await until(
    () => get<{ title: string }>(parked.path),
    ({ body }) => body.title === 'Back',
  );
  const verified = await line('audit', 'verify');
  expect(verified.output).toContain('Proven');
  expect((await get<Readiness>('/readyz')).body.reasons).toBeUndefined();
});

test('a record outside of the read model is skipped by its version', async ({
  items: { other },
  line,
  neighbour,
}) => {
  await neighbour.appendToStream(ours('email-of-nobody'), foreign());
  const verified = await line('audit', 'verify');
  expect(verified.output).toContain('email-of-nobody');
  expect(verified.exit).toBe(1);
  const skipped = await line('projection', 'release', 'email-of-nobody', '--version', '1', '--yes');
  expect(skipped.exit).toBe(0);
  expect((await line('audit', 'verify')).exit).toBe(0);
  const sound = await line('projection', 'release', other.stream, '--version', '1', '--yes');
  expect(sound.exit).toBe(1);
  expect(sound.complaint).toContain('can be read');
});

test('a record of an explicit transaction, which followers pass over, refuses writes until it is skipped', async ({
  ada,
  ask,
  line,
  standIn,
  write,
}) => {
  const item = await write('Before the transaction');
  const record = { id: randomUUID(), type: 'article.edited', contentType: 'application/json' };
  standIn.appendInTransaction(ours(item.stream), [
    { ...record, data: Buffer.from('{"total":7}'), metadata: new Uint8Array() },
  ]);
  const edit = () => ask('PATCH', item.path, { token: ada.token, body: { title: 'After it' } });
  expect(await edit()).toMatchObject({ status: 503, body: { code: 'parked' } });
  expect((await line('projection', 'release', item.stream, '--version', '2', '--yes')).exit).toBe(0);
  expect(await edit()).toMatchObject({ status: 200 });
});

test('subscribers and webhooks get what comes behind a foreign record', async ({
  ask,
  installation,
  items: { parked: _behind },
  neighbour,
  people,
  sink,
  write,
}) => {
  const { token } = people.administrator;
  const body = { url: `${sink.url}/drafts`, eventTypes: ['article.drafted'] };
  expect((await ask('POST', '/webhooks', { token, body })).status).toBe(201);
  await using all = await follow(`${installation.origin}/events`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const before = await write('Just before');
  await neighbour.appendToStream(ours(before.stream), foreign());
  const behind = await write('Just behind');
  const [, id] = behind.stream.split('-');
  await until(
    () => sink.received.map(({ body: text }) => text),
    (bodies) => bodies.some((text) => text.includes(String(id))),
    60_000,
  );
  await until(
    () => all.messages.map(({ data }) => data),
    (seen) => seen.some((data) => data.includes(behind.stream)),
    60_000,
  );
});

test('an item whose stream was cut is parked with this reason, until the stream is restored', async ({
  ada,
  ask,
  get,
  line,
  neighbour,
  write,
}) => {
  const cut = await write('To be cut');
  const { headers } = await ask('PATCH', cut.path, { token: ada.token, body: { title: 'Cut' } });
  await neighbour.setStreamMetadata(ours(cut.stream), { $maxCount: 1 });
  const at = encodeURIComponent(headers.get('consistency-token') ?? '');
  for (const path of [`${cut.path}/history`, `${cut.path}?at=${at}`])
    expect(await get(path)).toMatchObject({
      status: 503,
      body: { code: 'parked', detail: expect.stringContaining(`stream ${cut.stream} lacks version`) },
    });
  const verified = await line('audit', 'verify');
  expect(verified.exit).toBe(1);
  expect(verified.output).toContain(`stream cut: stream ${cut.stream} lacks version`);
  expect((await line('log', 'show', cut.stream)).complaint).toContain('stream_cut: stream');
  const other = await write('As ever');
  expect(await get(other.path, { 'consistency-token': other.at })).toMatchObject({ status: 200 });
  await until(
    () => get(cut.path),
    ({ status, body }) => status === 503 && (body as { code: string }).code === 'parked',
    60_000,
  );
  const parked = () => get<readonly Parked[]>('/operations/parked');
  expect((await parked()).body).toContainEqual(
    expect.objectContaining({ stream: cut.stream, reason: expect.stringMatching(/^stream_cut: /) }),
  );
  expect((await get<Readiness>('/readyz')).body.reasons?.['parked items']).toContain('parked');
  const released = await line('projection', 'release', cut.stream, '--yes');
  expect(released.exit).toBe(1);
  expect(released.complaint).toContain('restore the stream');
  await neighbour.setStreamMetadata(ours(cut.stream), {});
  expect((await line('projection', 'retry', cut.stream)).exit).toBe(0);
  expect(await get(cut.path)).toMatchObject({ status: 200, body: { title: 'Cut' } });
});

test('an installation starts on a log that begins with a foreign record', async () => {
  await using standIn = await startEventStoreStandIn();
  {
    const client = EventStoreDBClient.connectionString(standIn.address);
    await client.appendToStream(ours('article-1'), foreign());
    await client.dispose();
  }
  await using installation = await startInstallation({ settings: { EVENT_LOG_URL: standIn.address } });
  expect((await restClientOf(installation)('GET', '/readyz')).status).toBe(200);
});
