import { randomUUID } from 'node:crypto';
import { createClient } from 'graphql-ws';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import type { ReadEntry } from '#shared/read-log/entry.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { operate } from '../engines/installation.ts';
import { clinic } from './clinic.ts';
import { test as base, SECRET } from './clinic-fixture.ts';

/** The doors that few clients use: each shows a patient only with an entry. */
const test = base.extend('entriesVia', { scope: 'file' }, ({ pool }) => async (via: string) => {
  const { rows } = await pool.query<{ readonly entry: string }>(
    `select entry from read_log.entry where entry::jsonb->>'via' = $1 order by number`,
    [via],
  );
  return rows.map(({ entry }) => JSON.parse(entry) as ReadEntry);
});

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

test('queries and subscriptions over WebSocket have entries', async ({
  dan,
  entriesVia,
  installation,
  patient,
  session,
}) => {
  const client = createClient({
    url: `${installation.origin.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: { Authorization: `Bearer ${dan.token}` },
  });
  const results: unknown[] = [];
  const following = (async () => {
    for await (const result of client.iterate({
      query: 'subscription { changes { type patient { name } } }',
    }))
      results.push(result);
  })();
  following.catch(() => {});
  const readName = async () => {
    for await (const result of client.iterate({ query: `{ patient(id: "${patient.id}") { name } }` }))
      return result.data;
    return undefined;
  };
  // The read model may not have the patient yet.
  const read = await until(readName, (data) => data?.patient != null);
  expect(read).toEqual({ patient: { name: `Mr ${SECRET}` } });
  const ofQuery = (await entriesVia('graphql')).filter(({ items }) => items.includes(patient.id));
  expect(ofQuery).toMatchObject([{ actor: `user:${dan.userId}`, fields: ['name'], operation: 'query' }]);
  const body = { name: `Ms ${SECRET}`, diagnosis: null, stage: 'late', days: 0 };
  const { written } = await session.write('POST', '/patients', { token: dan.token, body });
  await until(
    () => results,
    (all) => JSON.stringify(all).includes(`Ms ${SECRET}`),
  );
  const streamed = (await entriesVia('stream')).filter(({ items }) => items.includes(written.id));
  expect(streamed).toMatchObject([{ actor: `user:${dan.userId}`, fields: ['name'] }]);
  await client.dispose();
  await following.catch(() => {});
});

test('a file has an entry for whoever gets its address, and for each who opens it', async ({
  ask,
  dan,
  dora,
  entriesOf,
  patient,
}) => {
  const put = await ask('PUT', `${patient.path}/photo`, {
    token: dora.token,
    type: 'image/png',
    body: PIXEL,
  });
  expect(put.status).toBeLessThan(300);
  const photo = await until(
    async () => ((await ask('GET', patient.path, { token: dan.token })).body as { photo?: string }).photo,
    (address) => typeof address === 'string',
  );
  const path = new URL(photo ?? '', 'http://localhost').pathname;
  const fetched = randomUUID();
  expect((await ask('GET', path, { token: dan.token, headers: { 'x-request-id': fetched } })).status).toBe(
    200,
  );
  expect(await entriesOf(fetched)).toMatchObject([
    { reader: dan.userId, items: [patient.id], fields: ['photo'] },
  ]);
  const asked = randomUUID();
  const address = await ask('GET', `${path}/address`, {
    token: dan.token,
    headers: { 'x-request-id': asked },
  });
  expect(await entriesOf(asked)).toMatchObject([{ reader: dan.userId, items: [patient.id] }]);
  const { pathname, search } = new URL(
    Object.values(address.body as object).find((each) => /uploads/.test(String(each))),
    'http://localhost',
  );
  const opened = randomUUID();
  expect((await ask('GET', pathname + search, { headers: { 'x-request-id': opened } })).status).toBe(200);
  expect(await entriesOf(opened)).toMatchObject([{ actor: 'anonymous', reader: null, items: [patient.id] }]);
});

test('commands that show the log are recorded, and verification proves the log of reads', async ({
  entriesVia,
  installation,
  patient,
}) => {
  const tail = await operate(['log', 'tail', '--json'], installation.settings, clinic);
  expect(tail).toContain(`"subject":"patient-${patient.id}"`.replace('"subject":', '').slice(1, -1));
  const entries = await entriesVia('command line');
  expect(entries.map(({ kind, operation, items }) => ({ kind, operation, items }))).toEqual([
    { kind: 'patient', operation: 'log tail', items: [] },
    { kind: 'prescription', operation: 'log tail', items: [] },
  ]);
  const verified = await operate(['audit', 'verify'], installation.settings, clinic);
  expect(verified).toMatch(/^Proven/m);
});

test('everything about a person, and an archive, have entries without ids', async ({
  ask,
  dora,
  entriesOf,
  entriesVia,
  installation,
}) => {
  const request = randomUUID();
  const exported = await ask('POST', '/account/export', {
    token: dora.token,
    headers: { 'x-request-id': request },
  });
  expect([exported.status, JSON.stringify(exported.body).includes(SECRET)]).toEqual([200, true]);
  const shown = { via: 'rest', operation: 'account export', reader: dora.userId, items: [] };
  expect(await entriesOf(request)).toMatchObject([
    { ...shown, kind: 'patient', fields: expect.arrayContaining(['name', 'notes']) },
    { ...shown, kind: 'prescription', fields: ['dose'] },
  ]);
  const annals = (...args: readonly string[]) => operate(args, installation.settings, clinic);
  expect(await annals('people', 'export', String(dora.userId))).toContain(SECRET);
  await using place = await temporaryDataDir();
  await annals('log', 'archive', place.path, '--before', new Date().toISOString());
  const operations = (await entriesVia('command line')).map(({ operation }) => operation);
  expect(operations.filter((each) => each === 'people export')).toHaveLength(2);
  expect(operations.filter((each) => each === 'log archive')).toHaveLength(2);
});

test('after a person is deleted, entries say only their number', async ({
  byAdmin,
  entriesOf,
  get,
  installation,
  nick,
  patient,
  pool,
}) => {
  const { request } = await get(patient.path, nick);
  const before = await entriesOf(request);
  await byAdmin('DELETE', `/users/${nick.userId}`);
  const report = await until(
    () => operate(['erasure', 'report', String(nick.userId)], installation.settings, clinic).catch(String),
    (text) => /read_log\.entry/.test(text),
  );
  expect(report).toMatch(/read_log\.entry/);
  expect(await entriesOf(request)).toEqual(before);
  const { rows } = await pool.query(
    `select count(*)::integer as count from read_log.entry where entry like '%Nick%'`,
  );
  expect(rows[0]?.count).toBe(0);
});
