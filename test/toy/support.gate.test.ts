// Over 200 lines, because every surface is tried on the one domain that is started here.
import { expect } from 'vitest';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import type { Followed } from '../../testing/http/event-source.ts';
import type { Person } from '../../testing/http/people.ts';
import { until } from '../../testing/until.ts';
import { operate } from '../engines/installation.ts';
import { support } from './support.ts';
import { test as base } from './toy-fixture.ts';

/**
 * Rights to parts on every surface, with nothing outside their declaration: a customer reads their ticket
 * without its triage until it is solved, without its costs, and without internal notes. The tests depend on
 * each other.
 */
const SECRET = 'He always says that';
const merge = 'application/merge-patch+json';
type Body = Readonly<Record<string, unknown>>;
type Entry = Body & { readonly type: string; readonly changes: readonly { readonly field: string }[] };

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: support } })
  .extend('everybody', { scope: 'file' }, async ({ people, signUpAs }) => ({
    customer: await people.signUp('Carla'),
    agent: await signUpAs('Agnes', 'agent'),
    lead: await signUpAs('Lea', 'lead'),
  }))
  .extend('received', { scope: 'file' }, async ({ followAs, everybody: { customer, agent, lead } }) => ({
    customer: await followAs(customer),
    agent: await followAs(agent),
    lead: await followAs(lead),
  }))
  /** Its events are followed, and go to webhooks of the customer and the lead. */
  .extend(
    'ticket',
    { scope: 'file' },
    async ({ session: { write }, sink, everybody: { customer, lead }, received: _open }) => {
      for (const [name, { token }] of Object.entries({ customer, lead })) {
        const hook = { url: `${sink.url}/${name}`, eventTypes: ['ticket.*'], payload: 'full' };
        await write('POST', '/webhooks', { token, body: hook });
      }
      const body = { subject: 'The printer burns', priority: 7 };
      const { id } = (await write('POST', '/tickets', { token: customer.token, body })).written;
      return { id, path: `/tickets/${id}` };
    },
  )
  .extend(
    'read',
    { scope: 'file' },
    ({ session }) =>
      async (at: string, by: Person) =>
        (await session.read<Body & Body[]>(at, { token: by.token })).body,
  )
  .extend('refused', { scope: 'file' }, ({ ask }) => async (at: string, by: Person) => {
    const { status, body } = await ask('GET', at, { token: by.token });
    const { code, errors = [] } = body as { code?: string; errors?: { parameter: string }[] };
    return [status, code, errors.map((each) => each.parameter)];
  });

const linksOf = (item: Body) => Object.keys(item._links as object);
const textsOf = (items: readonly Body[]) => items.map(({ text }) => text);

test('REST: times, versions and links to parts are only for readers of all parts', async ({
  everybody: { customer, agent, lead },
  read,
  session,
  ticket: { path },
}) => {
  await session.write('POST', `${path}/triage`, {
    token: agent.token,
    body: { priority: 3, assigneeId: agent.userId },
  });
  await session.write('PATCH', path, { token: lead.token, type: merge, body: { budget: 500 } });
  await session.write('POST', `${path}/costs`, { token: lead.token, body: { amount: 40 } });
  const [theirs, agents, leads] = [
    await read(path, customer),
    await read(path, agent),
    await read(path, lead),
  ];
  expect(Object.keys(theirs).toSorted()).toEqual([
    '_links',
    'createdAt',
    'customer',
    'id',
    'status',
    'subject',
  ]);
  expect(agents).not.toHaveProperty('updatedAt');
  expect(leads).toMatchObject({ budget: 500, costTotal: 40, updatedAt: expect.any(String) });
  for (const rel of ['assignee', 'costs']) expect(linksOf(theirs)).not.toContain(rel);
  expect([linksOf(agents), linksOf(leads)]).toEqual([
    expect.arrayContaining(['assignee']),
    expect.arrayContaining(['assignee', 'costs']),
  ]);
});

test('REST: an entity tag does not change while only parts change that its reader may not see', async ({
  everybody: { customer, lead },
  session,
  ticket: { path },
}) => {
  const tagFor = async (by: Person) => (await session.read(path, { token: by.token })).headers.get('etag');
  const before = [await tagFor(customer), await tagFor(lead)];
  await session.write('PATCH', path, { token: lead.token, type: merge, body: { budget: 600 } });
  const after = [await tagFor(customer), await tagFor(lead)];
  expect(after[0]).toBe(before[0]);
  expect(before[0]).toMatch(/^"-/);
  expect(after[1]).not.toBe(before[1]);
  expect(after[1]).toMatch(/^"\d+-/);
});

test('REST: unreadable values cannot be searched', async ({
  everybody: { customer, agent, lead },
  read,
  refused,
  ticket: { id },
}) => {
  const idsIn = (items: readonly Body[]) => items.map((each) => each.id);
  for (const query of ['priority=3', `assignee=${agent.userId}`, 'sort=-triagedAt']) {
    expect(idsIn(await read(`/tickets?${query}`, agent)), query).toEqual([id]);
    expect(idsIn(await read(`/tickets?${query}`, customer)), query).toEqual([]);
  }
  expect(idsIn(await read('/tickets?q=printer', customer))).toEqual([id]);
  expect(idsIn(await read('/tickets?budget=600', lead))).toEqual([id]);
  for (const by of [customer, agent])
    expect(await refused('/tickets?budget=600', by)).toEqual([400, 'invalid_parameter', ['budget']]);
});

test('REST: writes to a list that is hidden as a whole are refused, whatever its content', async ({
  ask,
  everybody: { customer },
  ticket: { path },
}) => {
  const write = async (method: string, at: string, body?: Body) => {
    const { status } = await ask(method, `${path}/costs${at}`, {
      token: customer.token,
      ...(body && { body }),
    });
    return status;
  };
  // The first exists, the second never did.
  expect([
    await write('DELETE', '/1'),
    await write('DELETE', '/2'),
    await write('POST', '', { amount: 1 }),
  ]).toEqual([403, 403, 403]);
});

test('REST: hidden items are on no page, and have no address for others', async ({
  everybody: { customer, agent },
  refused,
  session,
  ticket: { path },
}) => {
  const add = (by: Person, body: Body) => session.write('POST', `${path}/notes`, { token: by.token, body });
  await add(customer, { text: 'Smoke' });
  await add(agent, { text: SECRET, internal: true });
  await add(agent, { text: 'Is it on?' });
  await add(agent, { text: 'Toner', internal: true });
  const [page] = [await session.read<Body[]>(`${path}/notes?limit=1`, { token: customer.token })];
  const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
  const last = await session.read<Body[]>(next, { token: customer.token });
  expect([textsOf(last.body), last.headers.get('link')]).toEqual([
    ['Is it on?'],
    expect.not.stringContaining('rel="next"'),
  ]);
  expect(await refused(`${path}/notes/2`, customer)).toEqual([404, 'ticket_note_not_found', []]);
  expect(await refused(`${path}/costs/1`, agent)).toEqual([404, 'ticket_cost_not_found', []]);
});

test('REST: nobody can change what they may not read, or learn from trying', async ({
  ask,
  everybody: { customer, agent, lead },
  read,
  session,
  ticket: { path },
}) => {
  type Sent = readonly [body?: Body | readonly Body[], type?: string];
  const status = async (method: string, at: string, by: Person, ...[body, type]: Sent) => {
    const answer = await ask(method, `${path}${at}`, {
      token: by.token,
      ...(body && { body }),
      ...(type && { type }),
    });
    return answer.status;
  };
  for (const budget of [600, 1]) expect(await status('PATCH', '', customer, { budget }, merge)).toBe(403);
  const patch = 'application/json-patch+json';
  for (const value of [600, 1]) {
    expect(await status('PATCH', '', customer, [{ op: 'replace', path: '/budget', value }], patch)).toBe(403);
    expect(await status('PATCH', '', customer, [{ op: 'test', path: '/costTotal', value }], patch)).toBe(403);
  }
  // Whether an edit leaves a value unchanged would reveal it.
  const guesses = [40, 1].map((value) => ['/costTotal', value] as const);
  const people = [agent, customer].flatMap(({ userId }) => [
    ['/assignee', { id: userId }] as const,
    ['/assigneeId', userId] as const,
  ]);
  for (const op of ['replace', 'add'])
    for (const [path, value] of [...guesses, ...people, ['/costs', []] as const])
      expect([path, await status('PATCH', '', customer, [{ op, path, value }] as never, patch)]).toEqual([
        path,
        403,
      ]);
  // Readable values can be compared; the whole contains unreadable ones.
  const subject = { op: 'test', path: '/subject' };
  expect(await status('PATCH', '', customer, [{ ...subject, value: 'The printer burns' }], patch)).toBe(200);
  expect(await status('PATCH', '', customer, [{ ...subject, value: 'x' }], patch)).toBe(409);
  expect(await status('PATCH', '', customer, [{ op: 'test', path: '', value: {} }], patch)).toBe(403);
  expect(await status('PATCH', '', lead, [{ op: 'replace', path: '/costTotal', value: 40 }], patch)).toBe(
    200,
  );
  expect(await status('PATCH', '', lead, [{ op: 'replace', path: '/costTotal', value: 1 }], patch)).toBe(422);
  expect(await status('POST', '/triage', customer, { priority: 1, assigneeId: null })).toBe(403);
  expect(await status('POST', '/notes', customer, { text: 'x', internal: true })).toBe(403);
  expect(await status('POST', '/costs', agent, { amount: 1 })).toBe(403);
  expect(await status('PATCH', '/notes/2', customer, { text: 'x' }, merge)).toBe(404);
  expect(await status('POST', '/notes/2/move', customer, { before: null })).toBe(404);
  expect(await status('POST', '/notes/1/move', customer, { before: 2 })).toBe(404);
  // Like a removed one: removing it again is harmless, and reveals nothing.
  expect(await status('DELETE', '/notes/2', customer)).toBe(204);
  expect(textsOf(await read(`${path}/notes`, agent))).toContain(SECRET);
  // The field that decides who may read a note is set when it is added.
  expect(await status('PATCH', '/notes/1', agent, { internal: true }, merge)).toBe(422);
  await session.write('PATCH', `${path}/notes/2`, {
    token: agent.token,
    type: merge,
    body: { text: `${SECRET}!` },
  });
  await session.write('POST', `${path}/notes/2/move`, { token: agent.token, body: { before: null } });
  await session.write('DELETE', `${path}/notes/4`, { token: agent.token });
  await session.write('PATCH', path, {
    token: customer.token,
    type: merge,
    body: { subject: 'The printer is burning' },
  });
});

const QUERY = `query Q($id: ID!, $at: String) { ticket(id: $id, at: $at) {
  subject priority assignee { name } triagedAt budget costTotal updatedAt version
  notes { text internal } notesConnection(first: 1) { totalCount nodes { text } pageInfo { hasNextPage } }
  costs { amount } costsConnection { totalCount } } }`;
const THEIRS = {
  ...{
    subject: 'The printer is burning',
    priority: null,
    assignee: null,
    triagedAt: null,
    budget: null,
    costTotal: null,
  },
  ...{ updatedAt: null, version: null },
  notes: [
    { text: 'Smoke', internal: false },
    { text: 'Is it on?', internal: false },
  ],
  notesConnection: { totalCount: 2, nodes: [{ text: 'Smoke' }], pageInfo: { hasNextPage: true } },
  ...{ costs: [], costsConnection: { totalCount: 0 } },
};

test('GraphQL: time travel shows no part that its reader may not read', async ({
  everybody: { customer, agent, lead },
  graphql,
  read,
  ticket: { id, path },
}) => {
  const [latest] = await read(`${path}/history?limit=1`, lead);
  const variables = { id: String(id), at: `v${String(latest?.version)}` };
  const asks = async ({ token }: Person) =>
    (await graphql<{ ticket: Body }>(QUERY, { token, variables })).data.ticket;
  expect(await asks(customer)).toEqual(THEIRS);
  expect(await asks(agent)).toMatchObject({
    ...{ priority: 3, assignee: { name: 'Agnes' }, budget: null, costTotal: null, version: null },
    notesConnection: { totalCount: 3, nodes: [{ text: 'Smoke' }], pageInfo: { hasNextPage: true } },
    costsConnection: { totalCount: 0 },
  });
  expect(await asks(lead)).toMatchObject({ budget: 600, costTotal: 40, costs: [{ amount: 40 }] });
});

test('GraphQL: a repeated mutation shows no item that its sender may not read any more', async ({
  become,
  graphql,
  session,
  signUpAs,
}) => {
  const former = await signUpAs('Fred', 'agent');
  const { token } = former;
  const { written } = await session.write('POST', '/tickets', {
    token,
    body: { subject: 'Mine', priority: 1 },
  });
  const add = (by: string, internal: boolean) =>
    graphql(
      `mutation { addTicketNote(id: "${written.id}", input: { text: "${SECRET}", internal: ${internal} }) { text internal } }`,
      {
        ...{ token: by, headers: { 'idempotency-key': `"note-${internal}"` } },
      },
    );
  const shown = (internal: boolean) => ({ data: { addTicketNote: { text: SECRET, internal } } });
  for (const internal of [true, false]) expect(await add(token, internal)).toMatchObject(shown(internal));
  const now = (await become(former, 'customer')).token;
  expect(await add(now, false)).toMatchObject(shown(false));
  const repeated = await add(now, true);
  expect(repeated).toMatchObject({ errors: [{ extensions: { code: 'ticket_note_not_found' } }] });
  expect(JSON.stringify(repeated)).not.toContain(SECRET);
});

test('GraphQL: a caller who may read a field of no item cannot search by it', async ({
  everybody: { customer, agent, lead },
  graphql,
  ticket: { id },
}) => {
  const query = '{ tickets(filter: { budget: 600 }) { id } }';
  expect(await graphql(query, { token: lead.token })).toMatchObject({
    data: { tickets: [{ id: String(id) }] },
  });
  for (const { token } of [customer, agent])
    expect(await graphql(query, { token })).toMatchObject({
      errors: [{ extensions: { code: 'invalid_parameter' } }],
    });
});

test('earlier states show only parts that could be read then and can be read now', async ({
  everybody: { customer, agent, lead },
  read,
  refused,
  session,
  ticket: { path },
}) => {
  const versions = (await read(`${path}/history?limit=100`, lead)).map(
    ({ version, type }) => [version, type] as const,
  );
  const at = versions.find(([, type]) => type === 'ticket.noteAdded')?.[0];
  const then = `?at=v${at}`;
  expect(await read(`${path}${then}`, customer)).not.toHaveProperty('priority');
  expect(textsOf(await read(`${path}/notes${then}`, customer))).toEqual(['Smoke', 'Is it on?']);
  expect(textsOf(await read(`${path}/notes${then}`, agent))).toEqual(['Smoke', SECRET, 'Is it on?', 'Toner']);
  expect(await refused(`${path}/notes/2${then}`, customer)).toEqual([404, 'ticket_note_not_found', []]);
  const { headers } = await session.read(`${path}${then}`, { token: lead.token });
  const moment = headers.get('as-of') ?? '';
  expect(headers.get('memento-datetime')).not.toBeNull();
  for (const { token } of [customer, agent]) {
    // The time of the last change would reveal a hidden change.
    const theirs = (await session.read(`${path}${then}`, { token })).headers;
    expect([theirs.get('as-of'), theirs.get('memento-datetime')]).toEqual([moment, null]);
  }
  expect(await read(`/tickets?priority=3&at=${moment}`, agent)).toHaveLength(1);
  expect(await read(`/tickets?priority=3&at=${moment}`, customer)).toEqual([]);
  await session.write('POST', `${path}/solve`, { token: agent.token });
  expect(await read(path, customer)).toMatchObject({ priority: 3, assignee: { name: 'Agnes' } });
  // The customer may read the priority now, but could not then.
  expect(await read(`${path}${then}`, customer)).not.toHaveProperty('priority');
  const solved = (await read(`${path}/history`, lead))[0]?.version;
  await session.write('POST', `${path}/reopen`, { token: agent.token });
  // The customer could read the priority then, but may not now.
  expect(await read(`${path}?at=v${solved}`, customer)).not.toHaveProperty('priority');
  expect(await read(`${path}?at=v${solved}`, agent)).toMatchObject({ priority: 3 });
});

const OPEN_TO_ALL = [
  'ticket.opened',
  'ticket.noteAdded',
  'ticket.noteAdded',
  'ticket.changed',
  'ticket.solved',
  'ticket.reopened',
];

test('histories omit changes of unreadable parts', async ({
  everybody: { customer, agent },
  session,
  ticket: { path },
}) => {
  const historyFor = async (by: Person) =>
    (await session.read<Entry[]>(`${path}/history?limit=100`, { token: by.token })).body;
  const theirs = await historyFor(customer);
  expect(theirs.map(({ type }) => type).toReversed()).toEqual(OPEN_TO_ALL);
  expect(theirs.at(-1)?.changes.map(({ field }) => field)).not.toContain('priority');
  expect(JSON.stringify(theirs)).not.toContain(SECRET);
  const agents = await historyFor(agent);
  expect(agents.flatMap(({ changes }) => changes.map(({ field }) => field))).toEqual(
    expect.arrayContaining(['priority', 'notes.2.text']),
  );
  expect(agents.flatMap(({ changes }) => changes.map(({ field }) => field))).not.toEqual(
    expect.arrayContaining(['budget']),
  );
});

test('streams and webhooks deliver only readable parts', async ({
  everybody: { customer },
  received,
  session,
  sink,
  ticket: { id },
}) => {
  type Notification = { readonly type: string; readonly subject: string; readonly data: Body };
  const delivered = (followed: Followed) =>
    followed.messages
      .map(({ data }) => JSON.parse(data) as Notification)
      .filter(({ subject }) => subject === `ticket-${id}`);
  const isOver = (all: readonly Notification[]) => all.some(({ type }) => type === 'ticket.reopened');
  const [theirs, agents, leads] = [
    await until(() => delivered(received.customer), isOver),
    await until(() => delivered(received.agent), isOver),
    await until(() => delivered(received.lead), isOver),
  ];
  expect(theirs.map(({ type }) => type)).toEqual(OPEN_TO_ALL);
  expect(theirs[0]?.data).toEqual({
    ticketId: id,
    customerId: customer.userId,
    subject: 'The printer burns',
  });
  expect(agents[0]?.data).toMatchObject({ priority: 7 });
  expect(agents.map(({ type }) => type)).not.toContain('ticket.costAdded');
  expect(agents.find(({ type }) => type === 'ticket.noteRemoved')?.data).toMatchObject({
    noteId: 4,
    internal: true,
  });
  expect(leads.map(({ type }) => type)).toContain('ticket.costAdded');
  const paged = await session.read<Notification[]>(`/events?subject=ticket-${id}&limit=100`, {
    token: customer.token,
  });
  expect(paged.body.map(({ type }) => type)).toEqual(OPEN_TO_ALL);
  const posted = (at: string) =>
    sink.received
      .filter((each) => each.path === at)
      .map(({ body }) => JSON.parse(body) as Notification)
      .filter(({ subject }) => subject === `ticket-${id}`);
  const [toCustomer, toLead] = [
    await until(() => posted('/customer'), isOver),
    await until(() => posted('/lead'), isOver),
  ];
  expect(toCustomer.map(({ type }) => type).toSorted()).toEqual(OPEN_TO_ALL.toSorted());
  expect(toLead.map(({ type }) => type)).toContain('ticket.costAdded');
  for (const seen of [theirs, paged.body, toCustomer]) {
    expect(JSON.stringify(seen)).not.toContain(SECRET);
    expect(JSON.stringify(seen)).not.toMatch(/"(priority|budget|assigneeId|amount)"/);
  }
});

test('a subscription to a ticket delivers nothing that concerns only hidden parts', async ({
  everybody: { customer, agent, lead },
  installation,
  session,
  ticket: { id, path },
}) => {
  const asked = `subscription { ticketChanged(id: "${id}") { type ticket { priority budget notes { text } } } }`;
  await using stream = await streamOf(installation, asked, { token: customer.token });
  await session.write('POST', `${path}/notes`, {
    token: agent.token,
    body: { text: SECRET, internal: true },
  });
  await session.write('PATCH', path, { token: lead.token, type: merge, body: { budget: 700 } });
  await session.write('PATCH', path, {
    token: agent.token,
    type: merge,
    body: { subject: 'The printer is wet' },
  });
  expect(await stream.results(1)).toMatchObject([
    {
      data: {
        ticketChanged: {
          type: 'ticket.changed',
          ticket: { priority: null, budget: null, notes: [{ text: 'Smoke' }, { text: 'Is it on?' }] },
        },
      },
    },
  ]);
});

test('all of it is proven', async ({ installation }) => {
  expect(await operate(['audit', 'verify'], installation.settings, support)).toContain('Proven');
});
