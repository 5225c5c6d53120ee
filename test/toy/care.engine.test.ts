// Over 200 lines, because one person is followed until the export of their data.
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import {
  hitsIn,
  inDatabase,
  searchDatabase,
  searchFolder,
} from '../../testing/database/search-everywhere.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { operate } from '../engines/installation.ts';
import { picture } from '../engines/pictures.ts';
import { care } from './care.ts';
import { test as base } from './toy-fixture.ts';

/**
 * Searches all storage for a person's data by paths of references, before and after the person's deletion.
 */
const unmistakable = (what: string) => `${what}${randomUUID().replaceAll('-', '')}`;
const SAID = {
  name: unmistakable('Ada'),
  phone: unmistakable('phone').slice(0, 30),
  reason: unmistakable('reason'),
  need: unmistakable('need'),
  summary: unmistakable('summary'),
  measure: unmistakable('measure'),
  remark: unmistakable('remark'),
  letter: unmistakable('letter'),
} as const;

const test = base
  .extend(
    'installationOptions',
    { scope: 'file' },
    {
      settings: { WEBHOOK_RETRY_SCHEDULE: '0.1' },
      of: { domain: care },
    },
  )
  .extend('ada', { scope: 'file' }, ({ people }) => people.signUp(SAID.name))
  .extend('nurse', { scope: 'file' }, ({ people }) => people.signUp('Florence'))
  .extend('texts', { scope: 'file' }, ({ ada }) => [...Object.values(SAID), ada.email])
  /** The tables and folders that have their data, by the names of the report. */
  .extend('placesIn', { scope: 'file' }, ({ installation, texts }) => async () => {
    const { DATABASE_URL = '', DATA_DIR = '' } = installation.settings;
    return [...(await searchDatabase(DATABASE_URL, texts)), ...(await searchFolder(DATA_DIR, texts))];
  })
  .extend(
    'write',
    { scope: 'file' },
    ({ byAdmin }) =>
      async (path: string, body: object, method = 'POST') =>
        (await byAdmin(method, path, body)).written.id,
  )
  .extend(
    'annals',
    { scope: 'file' },
    ({ installation }) =>
      (...words: string[]) =>
        operate(words, installation.settings, care),
  )
  .extend(
    'readAsAdmin',
    { scope: 'file' },
    ({ people: { administrator }, session }) =>
      async <Body>(path: string) =>
        (await session.read<Body>(path, { token: administrator.token })).body,
  )
  .extend(
    'report',
    { scope: 'file' },
    ({ ada, readAsAdmin }) =>
      () =>
        readAsAdmin<ErasureReport>(`/users/${ada.userId}/erasure`),
  )
  .extend(
    'workload',
    { scope: 'file' },
    ({ ada, readAsAdmin }) =>
      () =>
        readAsAdmin(`/workload/${ada.userId}`),
  );
let ids: { readonly done: number; readonly asked: number };
let exported: string;

test('a person’s data by one, two and three references is in many places', async ({
  ada,
  annals,
  byAdmin,
  graphql,
  installation,
  nurse,
  people,
  placesIn,
  readAsAdmin,
  session,
  sink,
  workload,
  write,
}) => {
  sink.behave(({ body }, response) => void response.writeHead(500).end(body));
  await write(`/users/${ada.userId}`, { phone: SAID.phone }, 'PATCH');
  await write('/webhooks', { url: `${sink.url}/all`, eventTypes: ['*'], payload: 'full' });
  const visit = { reason: SAID.reason, place: 'ward', minutes: 20, clientId: ada.userId };
  ids = { done: await write('/visits', visit), asked: await write('/visits', { ...visit, minutes: 30 }) };
  await write(`/visits/${ids.done}/needs`, { need: SAID.need, minutes: 5 });
  const { token } = people.administrator;
  await session.write('PUT', `/visits/${ids.asked}/photo`, {
    token,
    body: picture('image/png'),
    type: 'image/png',
  });
  await byAdmin('POST', `/visits/${ids.done}/do`);
  const opened = await write(`/visits/${ids.done}/reports`, { summary: null, nurseId: nurse.userId });
  await write(`/reports/${opened}`, { summary: SAID.summary }, 'PATCH');
  await write(`/reports/${opened}/measures`, { pulse: 60, remark: SAID.measure });
  await write(`/reports/${opened}/remarks`, { text: SAID.remark, nurseId: nurse.userId });
  await write('/letters', { aboutId: ada.userId, senderId: nurse.userId, text: SAID.letter });
  expect(await readAsAdmin(`/reports/${opened}`)).toMatchObject({
    visitClient: { id: ada.userId },
  });
  const { data, errors } = await graphql('{ visitsConnection { totalCount } }', { token });
  expect([data, errors]).toEqual([{ visitsConnection: { totalCount: 2 } }, undefined]);
  await annals('projection', 'rebuild');
  await annals('replay', '--schema', 'replay_before');
  exported = join(installation.settings.DATA_DIR ?? '', 'audit', 'november');
  await annals('log', 'export', exported, '--keys');
  const places = await until(
    async () => new Set((await placesIn()).map(({ place }) => place)),
    (found) => FOUND.every((place) => found.has(place)),
    60_000,
  );
  expect([...places]).toEqual(expect.arrayContaining(FOUND));
  expect(await workload()).toMatchObject({ visits: 2, minutes: 50, lastPlace: 'ward' });
});

const TABLES = ['users', 'visits', 'visit_needs', 'reports', 'report_measures', 'remarks', 'letters'];
const FOUND = [
  ...['read_model', 'read_model_previous', 'replay_before'].flatMap((schema) =>
    TABLES.map((table) => `${schema}.${table}`),
  ),
  'webhook_ledger.attempt',
];
let before: string[];

test('after the person’s deletion, it is nowhere, and the report has named every place', {
  timeout: scaled(180_000),
}, async ({ ada, byAdmin, placesIn, report, texts }) => {
  before = [...new Set((await placesIn()).map(({ place }) => place))];
  await byAdmin('DELETE', `/users/${ada.userId}`);
  const left = await until(placesIn, (found) => found.length === 0, 60_000);
  expect(left).toEqual([]);
  const { places, sealed } = await until(
    report,
    ({ places: all }) => all.every(({ verdict, place }) => verdict !== 'left' || place.startsWith('exports')),
    60_000,
  );
  const erased = places.filter(({ verdict }) => verdict === 'erased').map(({ place }) => place);
  expect(erased).toEqual(expect.arrayContaining(before));
  expect(sealed).toEqual(
    expect.arrayContaining([
      { type: 'letter.sent', events: 1 },
      { type: 'remark.made', events: 2 },
      { type: 'report.concluded', events: 1 },
      { type: 'report.measured', events: 1 },
      { type: 'report.opened', events: 1 },
      { type: 'visit.asked', events: 2 },
      { type: 'visit.needAdded', events: 1 },
    ]),
  );
  expect(places.find(({ place }) => place === 'read_model.remarks')).toMatchObject({
    verdict: 'erased',
    rows: 2,
    left: 0,
  });
  expect(places.find(({ place }) => place === 'uploads')).toMatchObject({
    verdict: 'erased',
    rows: 1,
    left: 0,
  });
  expect(hitsIn('report', JSON.stringify(places), texts)).toEqual([]);
});

test('an export with the key stays until somebody removes it, and the report names it', async ({
  ada,
  annals,
  report,
}) => {
  const isLeft = await report();
  expect(isLeft.isDone).toBe(false);
  expect(isLeft.places.find(({ place }) => place === 'exports in AUDIT_DIR')).toMatchObject({
    verdict: 'left',
    left: 1,
    says: expect.stringContaining(exported),
  });
  await rm(exported, { recursive: true });
  expect((await report()).isDone).toBe(true);
  expect(await annals('erasure', 'report', String(ada.userId))).toContain('read_model.report_measures');
});

test('the report knows every table of the database, and names an unknown one', async ({
  installation,
  report,
}) => {
  const unknown = async () =>
    (await report()).places.filter(({ verdict }) => verdict === 'unknown').map(({ place }) => place);
  expect(await unknown()).toEqual([]);
  await inDatabase(installation.settings.DATABASE_URL ?? '', (client) =>
    client.query('create table public.forgotten (id bigint)'),
  );
  expect(await unknown()).toEqual(['public.forgotten']);
});

test('data that is not personal stays: rows, sums and counts', async ({
  annals,
  placesIn,
  readAsAdmin,
  workload,
}) => {
  expect(await readAsAdmin(`/visits/${ids.done}`)).toMatchObject({
    reason: '[deleted]',
    minutes: 20,
    needed: 5,
  });
  expect(await workload()).toMatchObject({ visits: 1, minutes: 20, lastPlace: 'ward' });
  await annals('audit', 'verify');
  await annals('projection', 'rebuild');
  expect(await placesIn()).toEqual([]);
});
