import { expect } from 'vitest';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import type { Person } from '../../testing/http/people.ts';
import { until } from '../../testing/until.ts';
import { operate } from '../engines/installation.ts';
import { teams } from './teams.ts';
import { test as base } from './toy-fixture.ts';

/** Rights by lists of other aggregates, while these change. The tests depend on each other. */
type Listed = readonly { readonly id: number; readonly purpose: string }[];
type Notification = { readonly type: string; readonly subject: string };

const idIn = (path: string): number => Number(path.split('/').at(-1));

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: teams } })
  .extend('everybody', { scope: 'file' }, async ({ ada, people, signUpAs }) => ({
    ada,
    bea: await people.signUp('Bea'),
    cora: await people.signUp('Cora'),
    dora: await signUpAs('Dora', 'director'),
  }))
  .extend('company', { scope: 'file' }, async ({ byAdmin, everybody: { dora } }) => {
    const company = `/companies/${(await byAdmin('POST', '/companies', { name: 'Engines' })).written.id}`;
    await byAdmin('POST', `${company}/directors`, { personId: dora.userId });
    return company;
  })
  /**
   * Ada and Bea are members of it, Bea as an approver; Dora directs its company, and Cora has nothing to do
   * with it.
   */
  .extend('team', { scope: 'file' }, async ({ byAdmin, company, everybody: { ada, bea } }) => {
    const { written } = await byAdmin('POST', '/teams', { companyId: idIn(company), name: 'Mills' });
    const team = `/teams/${written.id}`;
    await byAdmin('POST', `${team}/members`, { personId: ada.userId, part: 'guest' });
    await byAdmin('POST', `${team}/members`, { personId: bea.userId, part: 'approver' });
    return team;
  })
  .extend('received', { scope: 'file' }, ({ everybody, followAll, team: _thatTheyKnow }) =>
    followAll(everybody),
  )
  .extend(
    'statusFor',
    { scope: 'file' },
    ({ session }) =>
      async (person: Person, path: string): Promise<number> =>
        (await session.read(path, { token: person.token })).status,
  )
  .extend(
    'statusesOf',
    { scope: 'file' },
    ({ everybody, statusFor }) =>
      (path: string) =>
        Promise.all(Object.values(everybody).map((each) => statusFor(each, path))),
  );
let claim: string;

test.beforeAll(async ({ everybody: { bea }, received: _open, session, sink }) => {
  const hook = { url: `${sink.url}/bea`, eventTypes: ['claim.*'] };
  await session.write('POST', '/webhooks', { token: bea.token, body: hook });
});

test('a former approver loses the rights with the next request', async ({
  ask,
  byAdmin,
  everybody: { ada, bea },
  people,
  session,
  team,
}) => {
  const body = { teamId: idIn(team), purpose: 'Strasbourg' };
  claim = `/claims/${(await session.write('POST', '/claims', { token: ada.token, body })).written.id}`;
  await session.write('POST', `${claim}/submit`, { token: ada.token });
  const members = await session.read<{ id: number; person: { id: number } }[]>(`${team}/members`, {
    token: people.administrator.token,
  });
  const ofBea = members.body.find(({ person }) => person.id === bea.userId)?.id;
  await byAdmin('PATCH', `${team}/members/${ofBea}`, { part: 'guest' });
  expect((await ask('POST', `${claim}/approve`, { token: bea.token })).status).toBe(403);
  await byAdmin('PATCH', `${team}/members/${ofBea}`, { part: 'approver' });
  expect((await ask('POST', `${claim}/approve`, { token: bea.token })).status).toBe(200);
});

test('a user who leaves a team gets no more events, in open streams and by webhooks, and a new member gets later ones', async ({
  byAdmin,
  everybody: { ada, bea, cora, dora },
  installation,
  people,
  received,
  session,
  sink,
  statusesOf,
  team,
}) => {
  const typesFor = (person: Person) =>
    (received.get(person)?.messages ?? [])
      .map(({ data }) => JSON.parse(data) as Notification)
      .filter(({ type, subject }) => type.startsWith('claim.') && subject === `claim-${idIn(claim)}`)
      .map(({ type }) => type);
  const delivered = () =>
    sink.received.map(({ body }) => JSON.parse(body) as Notification).map(({ type }) => type);
  const first = ['claim.submitted', 'claim.approved'];
  await until(
    () => [typesFor(ada), typesFor(bea), typesFor(dora)].map(({ length }) => length),
    (counts) => counts.join() === '3,2,2',
  );
  expect([typesFor(ada), typesFor(bea), typesFor(cora), typesFor(dora)]).toEqual([
    ['claim.drafted', ...first],
    first,
    [],
    first,
  ]);
  await until(delivered, (types) => types.length >= 2);

  await using approvals = await streamOf(installation, 'subscription { claimApproved { subjectId } }', {
    token: bea.token,
  });
  const leaving = await session.read<{ id: number; person: { id: number } }[]>(`${team}/members`, {
    token: people.administrator.token,
  });
  await byAdmin(
    'DELETE',
    `${team}/members/${leaving.body.find(({ person }) => person.id === bea.userId)?.id}`,
  );
  await byAdmin('POST', `${team}/members`, { personId: cora.userId, part: 'approver' });
  expect(await statusesOf(claim)).toEqual([200, 404, 200, 200]);
  const body = { teamId: idIn(team), purpose: 'Rome' };
  const second = `/claims/${(await session.write('POST', '/claims', { token: ada.token, body })).written.id}`;
  await session.write('POST', `${second}/submit`, { token: ada.token });
  await session.write('POST', `${second}/approve`, { token: cora.token });
  // An event that is visible to Bea comes after it, so that the missing one is not merely late.
  await byAdmin('PATCH', `/users/${bea.userId}`, { name: 'Beatrice' });
  const all = (person: Person) =>
    (received.get(person)?.messages ?? []).map(({ data }) => JSON.parse(data) as Notification);
  await until(
    () => all(bea),
    (messages) =>
      messages.some(({ type, subject }) => type === 'user.updated' && subject === `user-${bea.userId}`),
  );
  const ofSecond = (person: Person) =>
    all(person).flatMap(({ type, subject }) => (subject === `claim-${idIn(second)}` ? [type] : []));
  await until(
    () => ofSecond(cora),
    (types) => types.length === 2,
  );
  expect([ofSecond(bea), ofSecond(cora)]).toEqual([[], first]);
  expect(delivered()).toEqual(first);
  expect(await approvals.results(0)).toEqual([]);
  expect(typesFor(cora)).toEqual([]);
});

test('earlier states are shown to users who could see them then and may see them now', async ({
  everybody: { ada, bea, cora, dora },
  graphql,
  session,
  statusesOf,
  statusFor,
}) => {
  const history = (person: Person, path: string) =>
    session.read<{ type: string; cursor: string }[]>(`${path}/history`, { token: person.token });
  const whole = (await history(ada, claim)).body.map(({ type }) => type);
  expect(whole).toEqual(['claim.approved', 'claim.submitted', 'claim.drafted']);
  // Cora joined after all of it.
  expect((await history(cora, claim)).body).toEqual([]);
  expect((await history(bea, claim)).status).toBe(404);
  const [approved] = (await history(ada, claim)).body;
  const at = `?at=${approved?.cursor}`;
  expect(await statusesOf(`${claim}${at}`)).toEqual([200, 404, 404, 200]);
  expect(await statusFor(cora, claim)).toBe(200);
  const { body } = await session.read<Listed>(`/claims${at}`, { token: cora.token });
  expect(body).toEqual([]);
  expect(
    (await session.read<Listed>(`/claims${at}`, { token: dora.token })).body.map(({ purpose }) => purpose),
  ).toEqual(['Strasbourg']);
  const query = `{ claims(at: "${approved?.cursor}") { purpose } }`;
  expect((await graphql(query, { token: dora.token })).data).toEqual({
    claims: [{ purpose: 'Strasbourg' }],
  });
  expect((await graphql(query, { token: cora.token })).data).toEqual({ claims: [] });
});

test('a director of another company has no rights here, and the read model is proven', async ({
  byAdmin,
  company,
  everybody: { dora },
  installation,
  session,
  statusFor,
}) => {
  await byAdmin('DELETE', `${company}/directors/${dora.userId}`);
  expect(await statusFor(dora, claim)).toBe(404);
  expect((await session.read<Listed>('/claims', { token: dora.token })).body).toEqual([]);
  expect(await operate(['audit', 'verify'], installation.settings, teams)).toContain('Proven');
});
