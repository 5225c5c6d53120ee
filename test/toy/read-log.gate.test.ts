// Over 200 lines, because every case reads the same patients, by another interface.
import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import type { ReadEntry } from '#shared/read-log/entry.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { until } from '../../testing/until.ts';
import { clinic } from './clinic.ts';
import { SECRET, test } from './clinic-fixture.ts';

/** The ids of a path, with those of the patient. */
const filled = (path: string, ids: Readonly<Record<string, string>>): string | undefined => {
  let isKnown = true;
  const all = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    isKnown &&= ids[name] !== undefined;
    return ids[name] ?? '';
  });
  return isKnown ? all : undefined;
};

test('whatever a read over REST shows of a patient has an entry', async ({
  entriesOf,
  get,
  patient,
  people,
  pool,
}) => {
  const { administrator } = people;
  const events = await until(
    async () =>
      (await get(`/events?subject=patient-${patient.id}`, administrator)).body as readonly { id: string }[],
    (all) => all.length > 0,
  );
  const ids = {
    patientId: String(patient.id),
    visitId: patient.visit.split('/')[2] ?? '',
    userId: String(administrator.userId),
    noteId: '1',
    eventId: events[0]?.id ?? '',
  };
  const shown: string[] = [];
  for (const [id, { method, role, path, answer }] of Object.entries(operationsOf(clinic))) {
    if (method !== 'GET' || role !== 'query') continue;
    const asked = filled(path, ids) ?? (path === '/stay/{patient}' ? `/stay/${patient.id}` : undefined);
    if (asked === undefined) continue;
    const { body, request, status } = await get(asked, administrator);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const entries = await entriesOf(request);
    if (!text.includes(SECRET)) continue;
    shown.push(id);
    expect([id, status, answer.kind, entries.length > 0]).toEqual([id, 200, answer.kind, true]);
    expect([id, entries.some(({ kind, items }) => kind === 'patient' && items.includes(patient.id))]).toEqual(
      [id, true],
    );
    for (const entry of entries) {
      expect(entry).toMatchObject({ actor: `user:${administrator.userId}`, reader: administrator.userId });
      expect(JSON.stringify(entry)).not.toContain(SECRET);
    }
  }
  // If an operation shows nothing any more, this test would pass without it.
  expect(shown).toEqual(
    expect.arrayContaining([
      ...['listPatients', 'getPatient', 'listPatientHistory', 'listPatientNotes', 'getPatientNote'],
      ...['listVisits', 'getVisit', 'listEvents', 'getRecordedEvent', 'traceRecordedEvent', 'exportLog'],
      ...['listStay', 'getPatientProof'],
    ]),
  );
  const { rows } = await pool.query(
    'select count(*)::integer as count, max(number)::integer as last from read_log.entry',
  );
  expect(rows[0]?.count).toBe(rows[0]?.last);
});

test('an entry says who read which fields, by which operation, and no value', async ({
  dan,
  entriesOf,
  get,
  nick,
  patient,
}) => {
  const { request } = await get(`/patients?q=${SECRET}&stage=early`, dan);
  expect(await entriesOf(request)).toEqual([
    {
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      actor: `user:${dan.userId}`,
      reader: dan.userId,
      client: expect.any(String),
      via: 'rest',
      operation: 'listPatients',
      query: { parameters: expect.arrayContaining(['q', 'stage']) },
      request,
      kind: 'patient',
      items: [patient.id],
      fields: ['createdAt', 'days', 'diagnosis', 'doctor', 'name', 'photo', 'stage', 'updatedAt'],
    },
  ]);
  const byNick = await get(patient.path, nick);
  expect(byNick.body).not.toHaveProperty('diagnosis');
  const [entry] = await entriesOf(byNick.request);
  expect(entry?.fields).not.toContain('diagnosis');
  expect(entry?.fields).toContain('name');
  const label = await get(patient.visit, nick);
  expect(await entriesOf(label.request)).toMatchObject([
    { kind: 'patient', items: [patient.id], fields: ['name'], operation: 'getVisit' },
  ]);
});

test('former states, known answers and heads of answers have entries; refusals and other kinds have none', async ({
  ask,
  byAdmin,
  dan,
  entriesOf,
  get,
  nick,
  patient,
}) => {
  const then = await get(`${patient.path}?at=v1`, dan);
  expect(await entriesOf(then.request)).toMatchObject([{ items: [patient.id], operation: 'getPatient' }]);
  const first = await get(patient.path, dan);
  const known = await get(patient.path, dan, { 'if-none-match': first.headers.get('etag') ?? '' });
  expect([known.status, (await entriesOf(known.request)).length]).toEqual([304, 1]);
  const compared = await get(patient.path, dan, { 'if-match': '"1-guessed"' });
  expect([compared.status, (await entriesOf(compared.request)).length]).toEqual([412, 1]);
  const refused = await get(`${patient.path}/readers`, nick);
  expect([refused.status, await entriesOf(refused.request)]).toEqual([404, []]);
  const ward = await byAdmin('POST', '/wards', { name: 'West' });
  const open = await get(`/wards/${ward.written.id}`, nick);
  expect([open.status, await entriesOf(open.request)]).toEqual([200, []]);
  const request = randomUUID();
  const written = await ask('PATCH', patient.path, {
    ...{ token: dan.token, type: 'application/merge-patch+json', body: { days: 4 } },
    headers: { prefer: 'return=representation', 'x-request-id': request },
  });
  expect(written.body).toMatchObject({ name: `Mr ${SECRET}` });
  expect(await entriesOf(request)).toMatchObject([{ items: [patient.id], operation: 'getPatient' }]);
});

const QUERIES: readonly (readonly [query: string, fields: readonly string[]])[] = [
  ['{ patient(id: "ID") { name } }', ['name']],
  ['{ patients { id diagnosis } }', ['diagnosis', 'id']],
  ['{ patientsConnection(first: 5) { edges { node { name } } totalCount } }', ['name']],
  ['{ visits { patient { name } } }', ['name']],
  ['{ patient(id: "ID") { notes { text } } }', ['notes']],
  ['{ patient(id: "ID", at: "v1") { name } }', ['name']],
  ['{ patient(id: "ID") { history(first: 5) { nodes { changes { field to } } } } }', []],
  ['{ stay(patient: "ID") { stage patient { name } } }', ['name']],
  ['{ patientsConnection(first: 5) { edges { cursor } } }', ['id']],
  ['{ patients { __typename } }', []],
  ['{ all: patients { ...shown } } fragment shown on Patient { called: name }', ['name']],
];

test('queries of GraphQL have entries, planned or not', async ({
  entriesOf,
  installation,
  people,
  patient,
}) => {
  const { token } = people.administrator;
  for (const [query, fields] of QUERIES)
    for (const planned of [true, false]) {
      // A directive with a variable of its own is not planned any differently, but introspection is.
      const document = planned ? query : query.replace('{ ', '{ eventTypes { type } ');
      const request = randomUUID();
      const { data, errors } = await graphqlClientOf(installation)(
        document.replaceAll('ID', String(patient.id)),
        {
          token,
          headers: { 'x-request-id': request },
        },
      );
      expect([document, errors]).toEqual([document, undefined]);
      expect(JSON.stringify(data)).not.toContain('\\u0002');
      const entries = (await entriesOf(request)).filter(({ items }) => items.includes(patient.id));
      expect([document, entries.length > 0]).toEqual([document, true]);
      if (document.includes('totalCount'))
        expect((await entriesOf(request)).filter(({ items }) => items.length === 0)).toMatchObject([
          { kind: 'patient', fields: ['count'] },
        ]);
      expect(entries[0]).toMatchObject({
        via: 'graphql',
        kind: 'patient',
        query: { document: expect.any(String) },
      });
      const all = new Set(entries.flatMap((entry) => entry.fields));
      for (const field of fields)
        expect([document, [...all]]).toEqual([document, expect.arrayContaining([field])]);
    }
});

test('whether there are patients, and how many rows of a view, has an entry without ids', async ({
  entriesOf,
  installation,
  nick,
}) => {
  for (const query of [
    '{ patientsConnection(first: 0) { pageInfo { hasNextPage } } }',
    '{ stayConnection(first: 1) { totalCount } }',
  ])
    for (const planned of [true, false]) {
      const request = randomUUID();
      const document = planned ? query : query.replace('{ ', '{ eventTypes { type } ');
      const { errors } = await graphqlClientOf(installation)(document, {
        token: nick.token,
        headers: { 'x-request-id': request },
      });
      expect([document, errors]).toEqual([document, undefined]);
      expect([document, await entriesOf(request)]).toMatchObject([
        document,
        [{ kind: 'patient', items: [] }],
      ]);
    }
});

test('the message that a row of a view is removed has an entry', async ({
  dora,
  nick,
  openStream,
  pool,
  session,
}) => {
  const { token } = dora;
  const { written } = await session.write('POST', '/patients', {
    token,
    body: { name: `Left ${SECRET}`, diagnosis: null, stage: 'late', days: 1 },
  });
  const subscription = await openStream(
    `subscription { stayChanged(patient: "${written.id}") { type key { patient } } }`,
    { token: nick.token },
  );
  const ofNick = async () => {
    const { rows } = await pool.query<{ readonly count: number }>(
      'select count(*)::integer as count from read_log.entry where items @> array[$1::bigint] and reader = $2',
      [written.id, nick.userId],
    );
    return rows[0]?.count ?? 0;
  };
  await until(
    () => JSON.stringify(subscription.messages),
    (messages) => messages.includes('CHANGED'),
  );
  const before = await ofNick();
  await session.write('DELETE', `/patients/${written.id}`, { token });
  await until(
    () => JSON.stringify(subscription.messages),
    (messages) => messages.includes('REMOVED'),
  );
  expect(await ofNick()).toBeGreaterThan(before);
});

test('a field that the reader gets as null has not been read', async ({
  entriesOf,
  installation,
  nick,
  patient,
}) => {
  for (const document of [
    `{ patient(id: "${patient.id}") { name diagnosis } }`,
    `{ patient(id: "${patient.id}") { name diagnosis } eventTypes { type } }`,
  ]) {
    const request = randomUUID();
    const { data } = await graphqlClientOf(installation)(document, {
      token: nick.token,
      headers: { 'x-request-id': request },
    });
    expect(data).toMatchObject({ patient: { diagnosis: null } });
    expect(await entriesOf(request)).toMatchObject([{ fields: ['name'] }]);
  }
});

test('only reads of the named fields are recorded', async ({ dora, entriesOf, get, nick, session }) => {
  const body = { drug: 'Aspirin', dose: 100 };
  const { written } = await session.write('POST', '/prescriptions', { token: dora.token, body });
  const byNick = await get(`/prescriptions/${written.id}`, nick);
  expect(byNick.body).not.toHaveProperty('dose');
  const byDora = await get(`/prescriptions/${written.id}`, dora);
  expect(byDora.body).toMatchObject({ dose: 100 });
  await until(
    () => entriesOf(byDora.request),
    (entries) => entries.length > 0,
  );
  expect(await entriesOf(byDora.request)).toMatchObject([{ kind: 'prescription', fields: ['dose'] }]);
  expect(await entriesOf(byNick.request)).toEqual([]);
});

test('subscribers, webhooks and tools have entries before they get anything', async ({
  dan,
  entriesOf,
  get,
  followAs,
  installation,
  openStream,
  pool,
  session,
  sink,
}) => {
  const stream = await followAs(dan);
  const subscription = await openStream('subscription { changes { type patient { name } } }', {
    token: dan.token,
  });
  await session.write('POST', '/webhooks', {
    token: dan.token,
    body: { url: `${sink.url}/hook`, eventTypes: ['patient.*'], payload: 'full' },
  });
  const body = { name: `Mrs ${SECRET}`, diagnosis: null, stage: 'late', days: 0 };
  const { written } = await session.write('POST', '/patients', { token: dan.token, body });
  await until(
    () => sink.received,
    (received) => received.some((each) => each.body.includes(SECRET)),
  );
  await until(
    () => stream.messages,
    (messages) => messages.some(({ data }) => data.includes(SECRET)),
  );
  await until(
    () => subscription.messages,
    (messages) => JSON.stringify(messages).includes(SECRET),
  );
  const vias = async () => {
    const { rows } = await pool.query<{ readonly entry: string }>(
      'select entry from read_log.entry where items @> array[$1::bigint] and reader = $2',
      [written.id, dan.userId],
    );
    return rows.map(({ entry }) => (JSON.parse(entry) as ReadEntry).via).toSorted();
  };
  expect(await vias()).toEqual(['stream', 'stream', 'webhook']);
  const { body: deliveries } = await get('/deliveries', dan);
  const shown = (deliveries as readonly { id: string; webhookId: number }[]).map(async ({ id, webhookId }) =>
    get(`/webhooks/${webhookId}/deliveries/${id}/body`, dan),
  );
  const delivered = (await Promise.all(shown)).find(({ body: sent }) => JSON.stringify(sent).includes(`Mrs`));
  expect(await entriesOf(delivered?.request ?? '')).toMatchObject([
    { reader: dan.userId, items: [written.id], via: 'rest' },
  ]);
  await using opened = new AsyncDisposableStack();
  const agent = new Client({ name: 'an-agent', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  opened.defer(() => agent.close());
  await agent.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', installation.origin), {
      requestInit: { headers: { Authorization: `Bearer ${dan.token}` } },
    }),
  );
  await agent.callTool({ name: 'getPatient', arguments: { patientId: written.id } });
  expect(await vias()).toEqual(['mcp', 'rest', 'stream', 'stream', 'webhook']);
});

test('the doctor of a patient and administrators read who has read it, and that is recorded', async ({
  dan,
  dora,
  entriesOf,
  get,
  nick,
  patient,
  people,
}) => {
  const item = await get(patient.path, dora);
  expect(item.body).toMatchObject({ _links: { readers: { href: `${patient.path}/readers` } } });
  expect((await get(patient.path, dan)).body).not.toHaveProperty('_links.readers');
  expect((await get(`${patient.path}/readers`, dan)).status).toBe(404);
  const byNick = await get(patient.path, nick);
  const { body, request } = await get(`${patient.path}/readers?limit=2`, dora);
  expect(body).toMatchObject([
    { actor: expect.stringMatching(/^user:/), via: 'rest' },
    { actor: expect.stringMatching(/^user:/) },
  ]);
  const readers = (await get(`${patient.path}/readers?limit=100`, people.administrator)).body as readonly {
    readonly request: string;
    readonly operation: string;
  }[];
  expect(readers.map((each) => each.request)).toContain(byNick.request);
  expect(readers.find((each) => each.request === request)).toMatchObject({ operation: 'listPatientReaders' });
  expect(await entriesOf(request)).toMatchObject([{ fields: ['readers'], items: [patient.id] }]);
  const ofNick = await get(`/users/${nick.userId}/reads`, people.administrator);
  expect(ofNick.body).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ request: byNick.request, kind: 'patient', items: [patient.id] }),
    ]),
  );
  expect((await get(`/users/${nick.userId}/reads`, nick)).status).toBe(403);
});

test('the log of reads cannot be changed, and while it cannot be written, patients are not shown', async ({
  dora,
  get,
  patient,
  pool,
  session,
  ask,
}) => {
  for (const statement of [
    "update read_log.entry set entry = '{}'",
    'delete from read_log.entry',
    'truncate read_log.entry',
    'delete from read_log.head',
    'update read_log.head set count = count - 1',
  ])
    await expect(pool.query(statement)).rejects.toThrow('append-only');
  const { written } = await session.write('POST', '/prescriptions', {
    token: dora.token,
    body: { drug: 'Ibuprofen', dose: 200 },
  });
  await get(`/prescriptions/${written.id}`, dora);
  await pool.query('alter table read_log.entry rename to entry_elsewhere');
  try {
    const refused = await ask('GET', patient.path, { token: dora.token });
    expect(refused).toMatchObject({
      status: 503,
      body: { code: 'unavailable', detail: expect.stringContaining('log of reads') },
    });
    expect(JSON.stringify(refused.body)).not.toContain(SECRET);
    expect([...refused.headers].join()).not.toMatch(/patients|etag/);
    const changed = await ask('PATCH', patient.path, {
      ...{ token: dora.token, type: 'application/merge-patch+json', body: { days: 5 } },
      headers: { prefer: 'return=representation' },
    });
    expect([changed.status < 300, JSON.stringify(changed.body)]).toEqual([
      true,
      expect.not.stringContaining(SECRET),
    ]);
    const { data } = (
      await ask('POST', '/graphql', {
        token: dora.token,
        body: { query: `{ patient(id: "${patient.id}") { name } }` },
      })
    ).body as { readonly data?: unknown };
    expect(data).toBe(undefined);
    expect((await ask('GET', `/prescriptions/${written.id}`, { token: dora.token })).status).toBe(200);
  } finally {
    await pool.query('alter table read_log.entry_elsewhere rename to entry');
  }
  const again = await until(
    () => ask('GET', patient.path, { token: dora.token }),
    ({ status }) => status === 200,
  );
  expect(again.body).toMatchObject({ name: `Mr ${SECRET}` });
  await until(
    async () =>
      (
        await pool.query(
          'select count(*)::integer as count from read_log.entry where items @> array[$1::bigint] and reader = $2',
          [written.id, dora.userId],
        )
      ).rows[0]?.count,
    (count) => count === 2,
  );
});
