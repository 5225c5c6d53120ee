// Over 200 lines, because every case asks the one system that is set up here.
import { expect } from 'vitest';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import type { Followed } from '../../testing/http/event-source.ts';
import type { Person } from '../../testing/http/people.ts';
import { until } from '../../testing/until.ts';
import { operate } from '../engines/installation.ts';
import { departments } from './departments.ts';
import { test as base } from './toy-fixture.ts';

/** Rights by attributes of the caller, on every surface. The tests depend on each other. */
const merge = 'application/merge-patch+json';
type Listed = readonly { readonly id: number; readonly title: string }[];
type Linked = { readonly _links: Readonly<Record<string, unknown>>; readonly cost?: number };
type Notification = { readonly type: string; readonly subject: string };

const idIn = (path: string): number => Number(path.split('/').at(-1));
const departmentIn = ({ token }: Person): unknown =>
  (
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      attributes?: { department?: unknown };
    }
  ).attributes?.department;

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: departments } })
  /** Signs somebody in again until their token has the department; they use this token from then on. */
  .extend('signInto', { scope: 'file' }, ({ people }) => async (person: Person, department: string) => {
    const again = await until(
      () => people.signIn(person, 'member'),
      (tried) => departmentIn(tried) === department,
    );
    Object.assign(person, again);
  })
  .extend(
    'signUpIn',
    { scope: 'file' },
    ({ byAdmin, people, signInto }) =>
      async (name: string, department: string) => {
        const person = await people.signUp(name);
        await byAdmin('PATCH', `/users/${person.userId}`, { department });
        await signInto(person, department);
        return person;
      },
  )
  .extend('everybody', { scope: 'file' }, async ({ people, signUpIn }) => ({
    ada: await signUpIn('Ada', 'mill'),
    bea: await signUpIn('Bea', 'mill'),
    cora: await signUpIn('Cora', 'office'),
    /** Is in no department. */
    dora: await people.signUp('Dora'),
  }))
  .extend('received', { scope: 'file' }, ({ everybody, followAll }) => followAll(everybody))
  .extend(
    'receivedBy',
    { scope: 'file' },
    ({ received }) =>
      (person: Person, path: string): readonly string[] =>
        (received.get(person)?.messages ?? [])
          .filter(({ data }) => data.startsWith('{'))
          .map(({ data }) => JSON.parse(data) as Partial<Notification>)
          .flatMap(({ type, subject }) => (subject === `report-${idIn(path)}` ? [String(type)] : [])),
  )
  .extend(
    'statusesOf',
    { scope: 'file' },
    ({ everybody, session }) =>
      (path: string) =>
        Promise.all(
          Object.values(everybody).map(async ({ token }) => (await session.read(path, { token })).status),
        ),
  )
  .extend(
    'draft',
    { scope: 'file' },
    ({ session, received: _beforeAnyEvent }) =>
      async (by: Person, department: string, title: string): Promise<string> => {
        const body = { department, title, cost: 70 };
        const { written } = await session.write('POST', '/reports', { token: by.token, body });
        return `/reports/${written.id}`;
      },
  );
let report: string;

test('nobody can set their own department, and a command checks that of the caller', async ({
  ask,
  draft,
  everybody: { ada, cora, dora },
  statusesOf,
}) => {
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
  report = await draft(ada, 'mill', 'Grain');
  expect(await statusesOf(report)).toEqual([200, 200, 404, 404]);
});

test('items, lists, filters, searches, counts and GraphQL agree', async ({ everybody, graphql, session }) => {
  const { ada, bea } = everybody;
  for (const person of Object.values(everybody)) {
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

test('a creation is offered to everybody who may create some', async ({ ask, everybody: { cora } }) => {
  const { body } = await ask('GET', '/reports', {
    token: cora.token,
    headers: { accept: 'application/hal+json' },
  });
  expect(body).toMatchObject({ _links: { create: { href: '/reports', method: 'POST' } } });
});

test('links and child resources check the same', async ({
  ask,
  everybody: { bea, cora },
  session,
  statusesOf,
}) => {
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

test('callers of two departments get different representations with different ETags', async ({
  ask,
  everybody: { ada, cora },
  session,
}) => {
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

test('streams of one role deliver each department its own events, by the department of the event', async ({
  byAdmin,
  draft,
  everybody: { ada, bea, cora, dora },
  receivedBy,
  session,
}) => {
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
  const moving = await draft(bea, 'mill', 'Flour');
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

test('an open stream ends when the department of its reader changes, and webhooks use the current one', async ({
  ask,
  byAdmin,
  draft,
  everybody: { ada, cora },
  installation,
  received,
  receivedBy,
  session,
  signInto,
  sink,
  statusesOf,
}) => {
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
  const before = await draft(ada, 'mill', 'Before');
  // Earlier events are planned by then, with her current department, the office.
  const office = await draft(cora, 'office', 'Office');
  await until(delivered, (all) => all.includes(`report.drafted report-${idIn(office)}`));
  await byAdmin('PATCH', `/users/${cora.userId}`, { department: 'mill' });
  const after = await draft(ada, 'mill', 'After');
  const stream = received.get(cora) as Followed;
  await Promise.all([stream.over(), subscription.over()]);
  expect([receivedBy(cora, before), receivedBy(cora, after)]).toEqual([[], []]);
  expect(JSON.stringify(stream.messages)).toContain('invalid_token');
  expect(JSON.stringify(subscription.messages)).not.toContain(`"${idIn(after)}"`);
  expect((await ask('GET', after, { token: cora.token })).status).toBe(401);
  await signInto(cora, 'mill');
  expect(await statusesOf(after)).toEqual([200, 200, 200, 404]);
  await until(delivered, (all) => all.includes(`report.drafted report-${idIn(after)}`));
  expect(delivered()).not.toContain(`report.drafted report-${idIn(before)}`);
  expect((await session.read<object>(`/webhooks/${hook.id}`, { token: cora.token })).body).toMatchObject({
    withheld: [],
  });
});

test('a service account has the department of its user, and the read model is proven', async ({
  ask,
  installation,
  people,
  session,
}) => {
  const service = await people.tokenOf(await people.registerService('member'));
  expect((await ask('GET', report, { token: service.token })).status).toBe(200);
  expect((await session.read<Listed>('/reports?status=draft', { token: service.token })).body).toEqual([]);
  expect(await operate(['audit', 'verify'], installation.settings, departments)).toContain('Proven');
});
