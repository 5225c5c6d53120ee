// Over 200 lines, because it is one table: what an auditor may do, by every interface.
import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  buildClientSchema,
  getIntrospectionQuery,
  getNamedType,
  type IntrospectionQuery,
  isCompositeType,
  isRequiredArgument,
} from 'graphql';
import { expect } from 'vitest';
import { operationsOf } from '#shared/rest/operations.ts';
import { until } from '../../testing/until.ts';
import { audited } from './audited.ts';
import { dayIn, SECRET, test } from './auditors-fixture.ts';

const operations = Object.entries(operationsOf(audited));
const MERGE_PATCH = 'application/merge-patch+json';
/** The address of an operation, whose parameters all name what somebody else has. */
const addressOf = (path: string, id: number): string => path.replaceAll(/\{\w+\}/g, String(id));
/** Their own personal access tokens and data are an auditor’s as anybody’s. */
const isOwn = (right: string | null): boolean => right === 'token.manage';

test('every operation of REST that writes is refused, before its body is read', async ({
  ask,
  auditor,
  file,
  pool,
}) => {
  const events = async () =>
    (await pool.query('select count(*)::integer as n from event_log.event')).rows[0]?.n;
  const before = await events();
  const writes = operations.filter(
    ([, { method, right }]) => method !== 'GET' && right !== null && !isOwn(right),
  );
  expect(writes.length).toBeGreaterThan(40);
  for (const [id, { method, path, answer }] of writes) {
    for (const body of [undefined, {}]) {
      const { status } = await ask(method, addressOf(path, file.id), { token: auditor.token, body });
      expect([id, answer.kind, status]).toEqual([id, answer.kind, 403]);
    }
  }
  const raised = { token: auditor.token, type: MERGE_PATCH, body: { role: 'admin' } };
  expect((await ask('PATCH', `/users/${auditor.userId}`, raised)).status).toBe(403);
  const longer = { ...raised, body: { auditorUntil: dayIn(90) } };
  expect((await ask('PATCH', `/users/${auditor.userId}`, longer)).status).toBe(403);
  expect((await ask('DELETE', `/users/${auditor.userId}`, { token: auditor.token })).status).toBe(403);
  expect((await ask('POST', '/remarks', { token: auditor.token, body: { text: 'Mine' } })).status).toBe(403);
  expect((await ask('POST', '/remarks', { body: { text: 'Anybody’s' } })).status).toBe(201);
  expect(await events()).toBe(before + 1);
});

test('every read over REST answers as to an administrator, and has an entry in the log of reads', async ({
  auditor,
  entriesOf,
  file,
  get,
  people,
}) => {
  const shown: string[] = [];
  const reads = operations.filter(([, { method, right }]) => method === 'GET' && !isOwn(right));
  expect(reads.length).toBeGreaterThan(50);
  for (const [id, { path, right }] of reads) {
    const asked = addressOf(path.replace('{billId}', String(file.billId)), file.id);
    // The chain of the proof grows meanwhile.
    const [byAdministrator, byAuditor] = await until(
      async () => [await get(asked, people.administrator), await get(asked, auditor)] as const,
      ([first, second]) => id === 'getMe' || first.status === second.status,
    );
    const { body, request, status } = byAuditor;
    if (id !== 'getMe') expect([id, status]).toEqual([id, byAdministrator.status]);
    expect([id, [200, 400, 404, 409].includes(status), status]).toEqual([id, true, status]);
    const entries = await entriesOf(request);
    if (status === 200 && right !== null) expect([id, entries.length > 0]).toEqual([id, true]);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    if (!text.includes(SECRET)) continue;
    shown.push(id);
    expect([id, entries.some(({ items }) => items.length > 0)]).toEqual([id, true]);
    expect(JSON.stringify(entries)).not.toContain(SECRET);
  }
  expect(shown).toEqual(
    expect.arrayContaining([
      'listFiles',
      'getFile',
      'listFileHistory',
      'listFilePages',
      'listEvents',
      'exportLog',
    ]),
  );
});

test('an item shows no action, and everything that rights hide from others', async ({
  auditor,
  file,
  get,
}) => {
  const { body } = await get(file.path, auditor);
  expect(body).toMatchObject({ title: `Case ${SECRET}`, secret: `${SECRET} himself` });
  const links = (body as { readonly _links: Readonly<Record<string, { readonly method?: string }>> })._links;
  expect(Object.values(links).filter(({ method = 'GET' }) => method !== 'GET')).toEqual([]);
  const then = await get(`${file.path}?at=v1`, auditor);
  expect(then.body).toMatchObject({ secret: `${SECRET} himself` });
  const users = await get('/users?limit=100', auditor);
  expect(users.body).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ email: auditor.email, role: 'auditor', auditorUntil: dayIn(30) }),
    ]),
  );
});

test('webhooks of others are listed without their secrets and without actions', async ({
  auditor,
  clerk,
  get,
  session,
}) => {
  const { written } = await session.write('POST', '/webhooks', {
    token: clerk.token,
    body: { url: 'http://127.0.0.1:9/', eventTypes: ['file.*'], headers: { 'x-key': SECRET } },
  });
  const { body } = await until(
    () => get(`/webhooks/${written.id}`, auditor),
    ({ status }) => status === 200,
  );
  expect(JSON.stringify(body)).not.toContain(SECRET);
  expect(JSON.stringify(body)).not.toContain('rotate-secret');
  expect((await get('/webhooks', auditor)).status).toBe(200);
  expect((await get(`/webhooks/${written.id}/history`, auditor)).status).toBe(200);
});

test('every mutation of GraphQL is refused, and every query has an entry', async ({
  auditor,
  entriesOf,
  file,
  graphql,
}) => {
  const { token } = auditor;
  const described = await graphql<IntrospectionQuery>(getIntrospectionQuery(), { token });
  const schema = buildClientSchema(described.data);
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  for (const { name, args, type } of mutations) {
    const required = args.filter(isRequiredArgument);
    // Rights come before the values of variables.
    const declared = required.map((each) => `$${each.name}: ${each.type}`).join(', ');
    const given = required.map((each) => `${each.name}: $${each.name}`).join(', ');
    const selection = isCompositeType(getNamedType(type)) ? '{ __typename }' : '';
    const operation = `mutation ${declared && `(${declared})`} { ${name}${given && `(${given})`} ${selection} }`;
    const { errors } = await graphql(operation, { token });
    const code = errors?.[0]?.extensions.code;
    expect([name, code]).toEqual([name, 'forbidden']);
  }
  for (const query of [
    `{ file(id: "${file.id}") { title secret clerk { name } } }`,
    '{ files { id } webhooks { id } }',
    '{ users { name role } }',
    '{ auditStatus { __typename } }',
  ]) {
    const request = randomUUID();
    const { errors } = await graphql(query, { token, headers: { 'x-request-id': request } });
    expect([query, errors]).toEqual([query, undefined]);
    expect([query, (await entriesOf(request)).length > 0]).toEqual([query, true]);
  }
});

test('tools of agents read alone', async ({ auditor, file, get, installation }) => {
  await using opened = new AsyncDisposableStack();
  const agent = new Client({ name: 'an-agent', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  opened.defer(() => agent.close());
  await agent.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', installation.origin), {
      requestInit: { headers: { Authorization: `Bearer ${auditor.token}` } },
    }),
  );
  const { tools } = await agent.listTools();
  const own = operations.flatMap(([id, { right }]) => (isOwn(right) ? [id] : []));
  const offered = tools.filter(({ annotations }) => annotations?.readOnlyHint !== true);
  expect(offered.map(({ name }) => name).filter((name) => !own.includes(name))).toEqual([]);
  expect(tools.length).toBeGreaterThan(5);
  const read = await agent.callTool({ name: 'getFile', arguments: { fileId: file.id } });
  expect(JSON.stringify(read)).toContain(SECRET);
  await agent.callTool({ name: 'shredFile', arguments: { fileId: file.id } }).catch(String);
  expect((await get(file.path, auditor)).status).toBe(200);
});

test('an auditor needs a last day, at most a year ahead, which no other role has', async ({
  ask,
  people,
}) => {
  const { token } = people.administrator;
  const { userId } = await people.signUp('Olga');
  const change = (body: object) => ask('PATCH', `/users/${userId}`, { token, type: MERGE_PATCH, body });
  for (const body of [
    { role: 'auditor' },
    { role: 'auditor', auditorUntil: null },
    { role: 'auditor', auditorUntil: dayIn(-1) },
    { role: 'auditor', auditorUntil: dayIn(400) },
    { auditorUntil: dayIn(30) },
    { role: 'guest', auditorUntil: dayIn(30) },
  ])
    expect([body, await change(body)]).toMatchObject([
      body,
      { status: 422, body: { code: 'invalid_request', errors: [{ pointer: '/auditorUntil' }] } },
    ]);
  const registered = await ask('POST', '/users', { token, body: { name: 'Paul', role: 'auditor' } });
  expect(registered).toMatchObject({ status: 422, body: { errors: [{ pointer: '/auditorUntil' }] } });
  expect((await change({ role: 'auditor', auditorUntil: dayIn(0) })).status).toBeLessThan(300);
  expect((await change({ auditorUntil: dayIn(365) })).status).toBeLessThan(300);
  expect((await change({ auditorUntil: null })).status).toBe(422);
  expect((await change({ role: 'guest' })).status).toBeLessThan(300);
});

test('the end of an audit ends tokens and streams at once, and the history says who ended it', async ({
  ask,
  audit,
  byAdmin,
  followAs,
  get,
  people,
}) => {
  const person = await audit(await people.signUp('Zoe'), dayIn(10));
  const { body: made } = await ask('POST', '/account/tokens', {
    token: person.token,
    body: { name: 'Script', scopes: ['read:files'], expiresAt: `${dayIn(100)}T00:00:00.000Z` },
  });
  const stream = await followAs(person);
  expect((await get('/files', person)).status).toBe(200);
  await byAdmin('PATCH', `/users/${person.userId}`, { auditorUntil: dayIn(-1) });
  for (const token of [person.token, (made as { readonly token?: string }).token ?? 'none'])
    await until(
      () => get('/files', { token }),
      ({ status }) => status === 401,
    );
  await stream.over();
  const form = { grant_type: 'refresh_token', client_id: 'journal-app', refresh_token: person.refreshToken };
  const refreshed = await ask('POST', '/token', {
    type: 'application/x-www-form-urlencoded',
    body: new URLSearchParams(form).toString(),
  });
  expect([refreshed.status, JSON.stringify(refreshed.body)]).toEqual([
    400,
    expect.stringContaining('invalid_grant'),
  ]);
  const history = await get(`/users/${person.userId}/history`, people.administrator);
  expect(JSON.stringify(history.body)).toContain(dayIn(-1));
  expect(JSON.stringify(history.body)).toContain(dayIn(10));
});

test('while the log of reads cannot be written, an auditor reads nothing', async ({
  ask,
  auditor,
  clerk,
  file,
  pool,
}) => {
  const { token } = auditor;
  await pool.query('alter table read_log.entry rename to entry_elsewhere');
  try {
    for (const path of [
      file.path,
      `${file.path}/history`,
      '/users',
      '/operations',
      '/clients',
      '/audit/status',
    ]) {
      const refused = await ask('GET', path, { token });
      expect([path, refused]).toMatchObject([path, { status: 503, body: { code: 'unavailable' } }]);
      expect(JSON.stringify(refused.body)).not.toContain(SECRET);
    }
    expect((await ask('GET', file.path, { token: clerk.token })).status).toBe(200);
  } finally {
    await pool.query('alter table read_log.entry_elsewhere rename to entry');
  }
  await until(
    () => ask('GET', file.path, { token }),
    ({ status }) => status === 200,
  );
});

test('an invitation names the last day, and leads to an auditor', async ({ ask, get, people }) => {
  const { token } = people.administrator;
  const email = `${randomUUID()}@example.com`;
  const invite = (body: object) => ask('POST', '/account/invitations', { token, body: { email, ...body } });
  for (const body of [
    { role: 'auditor' },
    { role: 'auditor', until: dayIn(-1) },
    { role: 'auditor', until: dayIn(400) },
    { role: 'guest', until: dayIn(3) },
    { role: 'auditor', until: 'soon' },
  ])
    expect([body, await invite(body)]).toMatchObject([
      body,
      { status: 422, body: { errors: [{ pointer: '/until' }] } },
    ]);
  expect(await invite({ role: 'auditor', until: dayIn(20) })).toMatchObject({
    status: 201,
    body: { role: 'auditor', until: dayIn(20) },
  });
  expect((await get('/account/invitations', people.administrator)).body).toEqual([
    expect.objectContaining({ email, role: 'auditor', until: dayIn(20) }),
  ]);
  const made = await until(
    async () =>
      JSON.stringify((await get('/events?types=invitation.made&limit=9', people.administrator)).body),
    (text) => text.includes('invitation.made'),
  );
  expect(made).toContain(dayIn(20));
});
