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
import { teams } from './teams.ts';

/** Rights by lists of other aggregates, on every surface. The tests depend on each other. */
const resources = new AsyncDisposableStack();
let installation: Installation;
let people: People;
let ask: RestClient;
let session: RestSession;
let sink: WebhookSink;
let [ada, bea, cora, dora]: Person[] = [];
/**
 * Ada and Bea are members of it, Bea as an approver; Dora directs its company, and Cora has nothing to do
 * with it.
 */
let team: string;
let company: string;
let claim: string;
let received: ReadonlyMap<Person, Followed>;

const merge = 'application/merge-patch+json';
type Listed = readonly { readonly id: number; readonly purpose: string }[];
type Linked = { readonly _links: Readonly<Record<string, unknown>> };
type Notification = { readonly type: string; readonly subject: string };

const byAdmin = (method: string, path: string, body?: object) =>
  session.write(method, path, {
    token: people.administrator.token,
    ...(body && { body }),
    ...(method === 'PATCH' && { type: merge }),
  });
const idIn = (path: string): number => Number(path.split('/').at(-1));
const statusFor = async (person: Person | undefined, path: string): Promise<number> =>
  (await session.read(path, { token: person?.token })).status;
const statusesOf = (path: string) => Promise.all([ada, bea, cora, dora].map((each) => statusFor(each, path)));

beforeAll(async () => {
  sink = resources.use(await startWebhookSink());
  installation = resources.use(
    await startInstallation({ of: { domain: teams, main: 'test/toy/teams-main.ts' } }),
  );
  people = await openPeople(installation);
  ask = restClientOf(installation);
  session = restSessionOver(ask);
  const all = (await Promise.all(['Ada', 'Bea', 'Cora', 'Dora'].map((name) => people.signUp(name)))) as [
    Person,
    Person,
    Person,
    Person,
  ];
  await byAdmin('PATCH', `/users/${all[3].userId}`, { role: 'director' });
  [ada, bea, cora, dora] = [all[0], all[1], all[2], await people.signIn(all[3], 'director' as never)];
  company = `/companies/${(await byAdmin('POST', '/companies', { name: 'Engines' })).written.id}`;
  await byAdmin('POST', `${company}/directors`, { personId: dora.userId });
  team = `/teams/${(await byAdmin('POST', '/teams', { companyId: idIn(company), name: 'Mills' })).written.id}`;
  await byAdmin('POST', `${team}/members`, { personId: ada.userId, part: 'guest' });
  await byAdmin('POST', `${team}/members`, { personId: bea.userId, part: 'approver' });
  const follows = async (person: Person) =>
    [
      person,
      await follow(`${installation.url}/events`, { headers: { authorization: `Bearer ${person.token}` } }),
    ] as const;
  received = new Map(await Promise.all([ada, bea, cora, dora].map(follows)));
  const hook = { url: `${sink.url}/bea`, eventTypes: ['claim.*'] };
  await session.write('POST', '/webhooks', { token: bea.token, body: hook });
});
afterAll(async () => {
  await Promise.all([...(received?.values() ?? [])].map((each) => each.close()));
  await resources.disposeAsync();
});

test('only members of a team may draft claims for it', async () => {
  const body = { teamId: idIn(team), purpose: 'Strasbourg' };
  const refused = await ask('POST', '/claims', { token: cora?.token, body });
  expect([refused.status, refused.body]).toMatchObject([409, { code: 'team_not_ours' }]);
  claim = `/claims/${(await session.write('POST', '/claims', { token: ada?.token, body })).written.id}`;
  expect(await statusesOf(claim)).toEqual([200, 404, 404, 404]);
  expect(await statusesOf(team)).toEqual([200, 200, 404, 200]);
  await session.write('POST', `${claim}/submit`, { token: ada?.token });
  expect(await statusesOf(claim)).toEqual([200, 200, 404, 200]);
});

test('links and the resolvers of mutations check the same', async () => {
  const linksOf = async (person: Person | undefined, path: string) =>
    Object.keys((await session.read<Linked>(path, { token: person?.token })).body._links);
  expect(await linksOf(bea, claim)).toContain('approve');
  expect(await linksOf(bea, team)).toContain('edit');
  for (const person of [ada, dora]) expect(await linksOf(person, claim)).not.toContain('approve');
  expect(await linksOf(ada, team)).not.toContain('edit');
  const listed = await session.read<Linked[]>('/claims', { token: bea?.token });
  expect(Object.keys(listed.body[0]?._links ?? {})).toContain('approve');
  const refused = await ask('POST', `${claim}/approve`, { token: ada?.token });
  expect([refused.status, refused.body]).toMatchObject([403, { code: 'forbidden' }]);
  // A former approver loses the rights with the next request.
  const members = await session.read<{ id: number; person: { id: number } }[]>(`${team}/members`, {
    token: people.administrator.token,
  });
  const ofBea = members.body.find(({ person }) => person.id === bea?.userId)?.id;
  await byAdmin('PATCH', `${team}/members/${ofBea}`, { part: 'guest' });
  expect((await ask('POST', `${claim}/approve`, { token: bea?.token })).status).toBe(403);
  await byAdmin('PATCH', `${team}/members/${ofBea}`, { part: 'approver' });
  const graphql = graphqlClientOf(installation);
  const approve = `mutation { approveClaim(id: "${idIn(claim)}") { status team { name } } }`;
  expect(await graphql(approve, { token: cora?.token })).toMatchObject({
    errors: [{ extensions: { code: 'claim_not_found' } }],
  });
  expect((await graphql(approve, { token: bea?.token })).data).toEqual({
    approveClaim: { status: 'approved', team: { name: 'Mills' } },
  });
});

test('a user who leaves a team gets no more events, in open streams and by webhooks, and a new member gets later ones', async () => {
  const typesFor = (person: Person | undefined) =>
    (received.get(person as Person)?.messages ?? [])
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
    token: bea?.token,
  });
  const leaving = await session.read<{ id: number; person: { id: number } }[]>(`${team}/members`, {
    token: people.administrator.token,
  });
  await byAdmin(
    'DELETE',
    `${team}/members/${leaving.body.find(({ person }) => person.id === bea?.userId)?.id}`,
  );
  await byAdmin('POST', `${team}/members`, { personId: cora?.userId, part: 'approver' });
  expect(await statusesOf(claim)).toEqual([200, 404, 200, 200]);
  const body = { teamId: idIn(team), purpose: 'Rome' };
  const second = `/claims/${(await session.write('POST', '/claims', { token: ada?.token, body })).written.id}`;
  await session.write('POST', `${second}/submit`, { token: ada?.token });
  await session.write('POST', `${second}/approve`, { token: cora?.token });
  // An event that is visible to Bea comes after it, so that the missing one is not merely late.
  await byAdmin('PATCH', `/users/${bea?.userId}`, { name: 'Beatrice' });
  const all = (person: Person | undefined) =>
    (received.get(person as Person)?.messages ?? []).map(({ data }) => JSON.parse(data) as Notification);
  await until(
    () => all(bea),
    (messages) =>
      messages.some(({ type, subject }) => type === 'user.updated' && subject === `user-${bea?.userId}`),
  );
  const ofSecond = (person: Person | undefined) =>
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

test('earlier states are shown to users who could see them then and may see them now', async () => {
  const history = (person: Person | undefined, path: string) =>
    session.read<{ type: string; cursor: string }[]>(`${path}/history`, { token: person?.token });
  const whole = (await history(ada, claim)).body.map(({ type }) => type);
  expect(whole).toEqual(['claim.approved', 'claim.submitted', 'claim.drafted']);
  // Cora joined after all of it.
  expect((await history(cora, claim)).body).toEqual([]);
  expect((await history(bea, claim)).status).toBe(404);
  const [approved] = (await history(ada, claim)).body;
  const at = `?at=${approved?.cursor}`;
  expect(await statusesOf(`${claim}${at}`)).toEqual([200, 404, 404, 200]);
  expect(await statusFor(cora, claim)).toBe(200);
  const { body } = await session.read<Listed>(`/claims${at}`, { token: cora?.token });
  expect(body).toEqual([]);
  expect(
    (await session.read<Listed>(`/claims${at}`, { token: dora?.token })).body.map(({ purpose }) => purpose),
  ).toEqual(['Strasbourg']);
  const graphql = graphqlClientOf(installation);
  const query = `{ claims(at: "${approved?.cursor}") { purpose } }`;
  expect((await graphql(query, { token: dora?.token })).data).toEqual({
    claims: [{ purpose: 'Strasbourg' }],
  });
  expect((await graphql(query, { token: cora?.token })).data).toEqual({ claims: [] });
});

test('a director of another company has no rights here, and the read model is proven', async () => {
  await byAdmin('DELETE', `${company}/directors/${dora?.userId}`);
  expect(await statusFor(dora, claim)).toBe(404);
  expect((await session.read<Listed>('/claims', { token: dora?.token })).body).toEqual([]);
  expect(await operate(['audit', 'verify'], installation.settings, teams)).toContain('Proven');
});
