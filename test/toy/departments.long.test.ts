// Over 200 lines, because every case asks the one system that is set up here.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import { type Followed, follow } from '../../testing/http/event-source.ts';
import { type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { type RestSession, restSessionOver } from '../../testing/http/rest-session.ts';
import { startWebhookSink, type WebhookSink } from '../../testing/http/webhook-sink.ts';
import { openPeople, type People, type Person } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import { type Installation, operate, startInstallation } from '../engines/installation.ts';
import { departments } from './departments.ts';

/** Rights by attributes of the caller, on every surface. The tests depend on each other. */
const resources = new AsyncDisposableStack();
let installation: Installation;
let people: People;
let ask: RestClient;
let session: RestSession;
let sink: WebhookSink;
/** Ada and Bea are in the mill, Cora is in the office, and Dora in no department. */
let ada: Person;
let bea: Person;
let cora: Person;
let dora: Person;
let report: string;
let received: ReadonlyMap<Person, Followed>;

const merge = 'application/merge-patch+json';
type Listed = readonly { readonly id: number; readonly title: string }[];
type Linked = { readonly _links: Readonly<Record<string, unknown>>; readonly cost?: number };
type Notification = { readonly type: string; readonly subject: string };

const byAdmin = (method: string, path: string, body?: object) =>
  session.write(method, path, {
    token: people.administrator.token,
    ...(body && { body }),
    ...(method === 'PATCH' && { type: merge }),
  });
const idIn = (path: string): number => Number(path.split('/').at(-1));
const all = (): readonly Person[] => [ada, bea, cora, dora];
const statusesOf = (path: string) =>
  Promise.all(all().map(async (person) => (await session.read(path, { token: person.token })).status));
const departmentIn = ({ token }: Person): unknown =>
  (
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      attributes?: { department?: unknown };
    }
  ).attributes?.department;
/** Signs in until the token has it. */
const signedInto = (person: Person, department: string) =>
  until(
    () => people.signIn(person, 'member'),
    (again) => departmentIn(again) === department,
  );
const receivedBy = (person: Person, path: string): readonly string[] =>
  (received.get(person)?.messages ?? [])
    .filter(({ data }) => data.startsWith('{'))
    .map(({ data }) => JSON.parse(data) as Partial<Notification>)
    .flatMap(({ type, subject }) => (subject === `report-${idIn(path)}` ? [String(type)] : []));
const drafted = async (by: Person, department: string, title: string): Promise<string> => {
  const { written } = await session.write('POST', '/reports', {
    token: by.token,
    body: { department, title, cost: 70 },
  });
  return `/reports/${written.id}`;
};

beforeAll(async () => {
  sink = resources.use(await startWebhookSink());
  installation = resources.use(
    await startInstallation({ of: { domain: departments, main: 'test/toy/departments-main.ts' } }),
  );
  people = await openPeople(installation);
  ask = restClientOf(installation);
  session = restSessionOver(ask);
  const [first, second, third, fourth] = await Promise.all(
    ['Ada', 'Bea', 'Cora', 'Dora'].map((name) => people.signUp(name)),
  );
  const put = async (person: Person, department: string): Promise<Person> => {
    await byAdmin('PATCH', `/users/${person.userId}`, { department });
    return signedInto(person, department);
  };
  [ada, bea, cora] = [
    await put(first as Person, 'mill'),
    await put(second as Person, 'mill'),
    await put(third as Person, 'office'),
  ];
  dora = fourth as Person;
  const follows = async (person: Person) =>
    [
      person,
      await follow(`${installation.url}/events`, { headers: { authorization: `Bearer ${person.token}` } }),
    ] as const;
  received = new Map(await Promise.all(all().map(follows)));
});
afterAll(async () => {
  await Promise.all([...(received?.values() ?? [])].map((each) => each.close()));
  await resources.disposeAsync();
});

test('nobody can set their own department, and a command checks that of the caller', async () => {
  const own = await ask('PATCH', `/users/${dora.userId}`, {
    token: dora.token,
    type: merge,
    body: { department: 'mill' },
  });
  expect([own.status, own.body]).toMatchObject([403, { code: 'forbidden' }]);
  const refused = await ask('POST', '/reports', {
    token: cora.token,
    body: { department: 'mill', title: 'Grain' },
  });
  expect(refused.status).toBe(403);
  report = await drafted(ada, 'mill', 'Grain');
  expect(await statusesOf(report)).toEqual([200, 200, 404, 404]);
});

test('items, lists, filters, searches, counts and GraphQL agree', async () => {
  const graphql = graphqlClientOf(installation);
  for (const person of all()) {
    const titles = person === ada || person === bea ? ['Grain'] : [];
    for (const path of [
      '/reports',
      '/reports?department=mill',
      '/reports?q=grain',
      '/reports?status=draft',
    ]) {
      const { body } = await session.read<Listed>(path, { token: person.token });
      expect([path, body.map(({ title }) => title)]).toEqual([path, titles]);
    }
    const { data } = await graphql<Readonly<Record<string, unknown>>>(
      `{ reportsConnection { totalCount nodes { title author { name } } } report(id: "${idIn(report)}") { title cost } }`,
      { token: person.token },
    );
    const nodes = titles.map((title) => ({ title, author: { name: 'Ada' } }));
    expect(data).toEqual({
      reportsConnection: { totalCount: titles.length, nodes },
      report: titles.length > 0 ? { title: 'Grain', cost: 70 } : null,
    });
  }
});

test('a creation is offered to everybody who may create some', async () => {
  const { body } = await ask('GET', '/reports', {
    token: cora.token,
    headers: { accept: 'application/hal+json' },
  });
  expect(body).toMatchObject({ _links: { create: { href: '/reports', method: 'POST' } } });
});

test('links and child resources check the same', async () => {
  const linksOf = async (person: Person) =>
    Object.keys((await session.read<Linked>(report, { token: person.token })).body._links);
  expect(await linksOf(bea)).toEqual(expect.arrayContaining(['file', 'edit', 'remark']));
  const { written } = await session.write('POST', `${report}/remarks`, {
    token: bea.token,
    body: { text: 'How much?' },
  });
  expect(await statusesOf(`/remarks/${written.id}`)).toEqual([200, 200, 404, 404]);
  await session.write('POST', `${report}/file`, { token: bea.token });
  expect(await statusesOf(report)).toEqual([200, 200, 200, 200]);
  expect(await linksOf(cora)).not.toEqual(expect.arrayContaining(['remark']));
  const refused = await ask('POST', `${report}/remarks`, { token: cora.token, body: { text: 'So much?' } });
  expect([refused.status, refused.body]).toMatchObject([403, { code: 'forbidden' }]);
});

test('callers of two departments get different representations with different ETags', async () => {
  const [ours, theirs] = [
    await session.read<Linked>(report, { token: ada.token }),
    await session.read<Linked>(report, { token: cora.token }),
  ];
  expect([ours.body.cost, theirs.body.cost]).toEqual([70, undefined]);
  const [etag, other] = [ours, theirs].map(({ headers }) => headers.get('etag') ?? '');
  expect(etag).not.toBe(other);
  const again = await ask('GET', report, { token: cora.token, headers: { 'if-none-match': etag ?? '' } });
  expect(again.status).toBe(200);
  const same = await ask('GET', report, { token: cora.token, headers: { 'if-none-match': other ?? '' } });
  expect(same.status).toBe(304);
});

test('streams of one role deliver each department its own events, by the department of the event', async () => {
  await until(
    () =>
      [
        receivedBy(ada, report),
        receivedBy(bea, report),
        receivedBy(cora, report),
        receivedBy(dora, report),
      ].map(({ length }) => length),
    (counts) => counts.join() === '2,2,1,1',
  );
  expect([receivedBy(ada, report), receivedBy(cora, report)]).toEqual([
    ['report.drafted', 'report.filed'],
    ['report.filed'],
  ]);
  const moving = await drafted(bea, 'mill', 'Flour');
  await byAdmin('PATCH', moving, { department: 'office' });
  await session.write('PATCH', moving, { token: cora.token, type: merge, body: { title: 'Bread' } });
  await until(
    () => receivedBy(cora, moving),
    (types) => types.length === 2,
  );
  expect([receivedBy(bea, moving), receivedBy(cora, moving)]).toEqual([
    ['report.drafted', 'report.edited'],
    ['report.edited', 'report.edited'],
  ]);
  expect(receivedBy(dora, moving)).toEqual([]);
});

test('an open stream ends when the department of its reader changes, and webhooks use the current one', async () => {
  const delivered = () =>
    sink.received
      .map(({ body }) => JSON.parse(body) as Notification)
      .map(({ type, subject }) => `${type} ${subject}`);
  const { written: hook } = await session.write('POST', '/webhooks', {
    token: cora.token,
    body: { url: `${sink.url}/cora`, eventTypes: ['report.*'] },
  });
  const subscription = await streamOf(installation, 'subscription { changes { type subjectId } }', {
    token: cora.token,
  });
  const before = await drafted(ada, 'mill', 'Before');
  // Earlier events are planned by then, with her current department, the office.
  const office = await drafted(cora, 'office', 'Office');
  await until(delivered, (all) => all.includes(`report.drafted report-${idIn(office)}`));
  await byAdmin('PATCH', `/users/${cora.userId}`, { department: 'mill' });
  const after = await drafted(ada, 'mill', 'After');
  const stream = received.get(cora) as Followed;
  await Promise.all([stream.over(), subscription.over()]);
  expect([receivedBy(cora, before), receivedBy(cora, after)]).toEqual([[], []]);
  expect(JSON.stringify(stream.messages)).toContain('invalid_token');
  expect(JSON.stringify(subscription.messages)).not.toContain(`"${idIn(after)}"`);
  expect((await ask('GET', after, { token: cora.token })).status).toBe(401);
  cora = await signedInto(cora, 'mill');
  expect(await statusesOf(after)).toEqual([200, 200, 200, 404]);
  await until(delivered, (all) => all.includes(`report.drafted report-${idIn(after)}`));
  expect(delivered()).not.toContain(`report.drafted report-${idIn(before)}`);
  expect((await session.read<object>(`/webhooks/${hook.id}`, { token: cora.token })).body).toMatchObject({
    withheld: [],
  });
});

test('earlier states are shown by the reader’s current department', async () => {
  const moved = await drafted(ada, 'mill', 'Moved');
  await byAdmin('PATCH', moved, { department: 'office' });
  const types = async (person: Person) =>
    (await session.read<{ type: string; cursor: string }[]>(`${moved}/history`, { token: person.token }))
      .status;
  expect(await Promise.all([types(ada), types(cora)])).toEqual([404, 404]);
  await byAdmin('PATCH', `/users/${dora.userId}`, { department: 'office' });
  dora = await signedInto(dora, 'office');
  const { body } = await session.read<{ type: string; cursor: string }[]>(`${moved}/history`, {
    token: dora.token,
  });
  // Its state in the mill belongs to the mill.
  expect(body.map(({ type }) => type)).toEqual(['report.edited']);
  const [first] = (
    await session.read<{ cursor: string }[]>(`${moved}/history`, { token: people.administrator.token })
  ).body.toReversed();
  expect(await statusesOf(`${moved}?at=${first?.cursor}`)).toEqual([404, 404, 404, 404]);
  expect(
    (await ask('GET', `${moved}?at=${first?.cursor}`, { token: people.administrator.token })).status,
  ).toBe(200);
});

test('a service account has the department of its user, and the read model is proven', async () => {
  const service = await people.tokenOf(await people.registerService('member' as never));
  expect((await ask('GET', report, { token: service.token })).status).toBe(200);
  expect((await session.read<Listed>('/reports?status=draft', { token: service.token })).body).toEqual([]);
  expect(await operate(['audit', 'verify'], installation.settings, departments)).toContain('Proven');
});
