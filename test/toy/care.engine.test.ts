import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import {
  hitsIn,
  inDatabase,
  searchDatabase,
  searchFolder,
} from '../../testing/database/search-everywhere.ts';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { type RestSession, restSessionOver } from '../../testing/http/rest-session.ts';
import { startWebhookSink, type WebhookSink } from '../../testing/http/webhook-sink.ts';
import { scaled } from '../../testing/load.ts';
import { openPeople, type People, type Person } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import { type Installation, operate, startInstallation } from '../engines/installation.ts';
import { picture } from '../engines/pictures.ts';
import { care } from './care.ts';

/**
 * Searches all storage for a person's data by paths of references, before and after the person's deletion.
 */
const resources = new AsyncDisposableStack();
let installation: Installation;
let session: RestSession;
let sink: WebhookSink;
let people: People;
let ada: Person;
let nurse: Person;
let ids: { readonly done: number; readonly asked: number };
let exported: string;

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
const texts = () => [...Object.values(SAID), ada.email];

/** Of a table or a folder, as the report names it. */
const placesIn = async () => {
  const { DATABASE_URL = '', DATA_DIR = '' } = installation.settings;
  return [...(await searchDatabase(DATABASE_URL, texts())), ...(await searchFolder(DATA_DIR, texts()))];
};
const write = async (path: string, body: object, method = 'POST') => {
  const { token } = people.administrator;
  const type = method === 'PATCH' ? { type: 'application/merge-patch+json' } : {};
  return (await session.write(method, path, { token, body, ...type })).written.id;
};
const annals = (...words: string[]) => operate(words, installation.settings, care);
const report = async () =>
  (await session.read<ErasureReport>(`/users/${ada.userId}/erasure`, { token: people.administrator.token }))
    .body;
const workload = async () =>
  (await session.read(`/workload/${ada.userId}`, { token: people.administrator.token })).body;

beforeAll(async () => {
  sink = resources.use(await startWebhookSink());
  sink.behave(({ body }, response) => void response.writeHead(500).end(body));
  installation = resources.use(
    await startInstallation({
      settings: { WEBHOOK_RETRY_SCHEDULE: '0.1' },
      of: { domain: care, main: 'test/toy/care-main.ts' },
    }),
  );
  session = restSessionOver(restClientOf(installation));
  people = await openPeople(installation);
  [ada, nurse] = [await people.signUp(SAID.name), await people.signUp('Florence')];
});
afterAll(() => resources.disposeAsync());

test('a person’s data by one, two and three references is in many places', async () => {
  const admin = people.administrator;
  await write(`/users/${ada.userId}`, { phone: SAID.phone }, 'PATCH');
  await write('/webhooks', { url: `${sink.url}/all`, eventTypes: ['*'], payload: 'full' });
  const visit = { reason: SAID.reason, place: 'ward', minutes: 20, clientId: ada.userId };
  ids = { done: await write('/visits', visit), asked: await write('/visits', { ...visit, minutes: 30 }) };
  await write(`/visits/${ids.done}/needs`, { need: SAID.need, minutes: 5 });
  await session.write('PUT', `/visits/${ids.asked}/photo`, {
    token: admin.token,
    body: picture('image/png'),
    type: 'image/png',
  });
  await session.write('POST', `/visits/${ids.done}/do`, { token: admin.token });
  const opened = await write(`/visits/${ids.done}/reports`, { summary: null, nurseId: nurse.userId });
  await write(`/reports/${opened}`, { summary: SAID.summary }, 'PATCH');
  await write(`/reports/${opened}/measures`, { pulse: 60, remark: SAID.measure });
  await write(`/reports/${opened}/remarks`, { text: SAID.remark, nurseId: nurse.userId });
  await write('/letters', { aboutId: ada.userId, senderId: nurse.userId, text: SAID.letter });
  expect((await session.read(`/reports/${opened}`, { token: admin.token })).body).toMatchObject({
    visitClient: { id: ada.userId },
  });
  const { data, errors } = await graphqlClientOf(installation)('{ visitsConnection { totalCount } }', {
    token: people.administrator.token,
  });
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
}, async () => {
  before = [...new Set((await placesIn()).map(({ place }) => place))];
  await session.write('DELETE', `/users/${ada.userId}`, { token: people.administrator.token });
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
  expect(hitsIn('report', JSON.stringify(places), texts())).toEqual([]);
});

test('an export with the key stays until somebody removes it, and the report names it', async () => {
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

test('the report knows every table of the database, and names an unknown one', async () => {
  const unknown = async () =>
    (await report()).places.filter(({ verdict }) => verdict === 'unknown').map(({ place }) => place);
  expect(await unknown()).toEqual([]);
  await inDatabase(installation.settings.DATABASE_URL ?? '', (client) =>
    client.query('create table public.forgotten (id bigint)'),
  );
  expect(await unknown()).toEqual(['public.forgotten']);
});

test('data that is not personal stays: rows, sums and counts', async () => {
  const { token } = people.administrator;
  expect((await session.read(`/visits/${ids.done}`, { token })).body).toMatchObject({
    reason: '[deleted]',
    minutes: 20,
    needed: 5,
  });
  expect(await workload()).toMatchObject({ visits: 1, minutes: 20, lastPlace: 'ward' });
  await annals('audit', 'verify');
  await annals('projection', 'rebuild');
  expect(await placesIn()).toEqual([]);
});
