import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { searchDatabase } from '../../testing/database/search-everywhere.ts';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { openPeople, type Person } from '../../testing/http/people.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { restSessionOver } from '../../testing/http/rest-session.ts';
import { startWebhookSink } from '../../testing/http/webhook-sink.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase } from '../engines/database.ts';
import { operate, startInstallation } from '../engines/installation.ts';
import { after, before } from './grown.ts';
import { helpdesk } from './helpdesk.ts';

type History = readonly { readonly type: string; readonly changes?: readonly { readonly field: string }[] }[];

test('events from before new fields are read with null or the default, and webhooks with an old scope get nothing new', async () => {
  await using database = await createDatabase();
  await using folder = await temporaryDataDir();
  await using sink = await startWebhookSink();
  const settings = {
    DATABASE_URL: database.url,
    DATA_DIR: folder.path,
    MASTER_KEY: randomBytes(32).toString('base64'),
  };
  const first = await (async () => {
    await using installation = await startInstallation({
      settings,
      of: { domain: before },
    });
    const people = await openPeople(installation);
    const session = restSessionOver(restClientOf(installation));
    const [carla, bert] = [await people.signUp('Carla'), await people.signUp('Bert')];
    const { written } = await session.write('POST', '/tickets', {
      token: carla.token,
      body: { subject: 'It burns' },
    });
    const hook = { url: sink.url, eventTypes: ['*'], ordered: true };
    const { written: webhook } = await session.write('POST', '/webhooks', {
      token: people.administrator.token,
      body: hook,
    });
    const visit = { visitor: 'Vera of the visits', minutes: 90 };
    const book = async ({ token }: Person) =>
      (await session.write('POST', '/visits', { token, body: visit })).written.id;
    const visits = { kept: await book(carla), erased: await book(bert) };
    await session.write('PATCH', `/visits/${visits.kept}`, { token: carla.token, body: { minutes: 150 } });
    expect((await session.read(`/visits/${visits.kept}`, { token: carla.token })).body).toMatchObject({
      minutes: 150,
    });
    await session.write('DELETE', `/users/${bert.userId}`, { token: people.administrator.token });
    return { admin: installation.admin, carla, webhook: webhook.id, ticket: written.id, visits };
  })();
  const { admin, carla, webhook, ticket, visits } = first;

  await using installation = await startInstallation({
    settings,
    admin,
    of: { domain: after },
  });
  const status = async () =>
    JSON.parse(await operate(['projection', 'status', '--json'], installation.settings, after)).live;
  expect(await status()).toMatchObject({ isOfThisRelease: false });
  await expect(operate(['projection', 'rebuild'], installation.settings, helpdesk)).rejects.toThrow(
    'The data belongs to the domain desk, but this is helpdesk: set DOMAIN_FILE to the file of desk',
  );
  const early = await restClientOf(installation)('GET', '/tickets');
  expect({ status: early.status, code: early.body, after: early.headers.get('retry-after') }).toMatchObject({
    ...{ status: 503, after: '10' },
    code: { code: 'unavailable', detail: expect.stringContaining('is being rebuilt') },
  });
  expect(await graphqlClientOf(installation)('{ tickets { place } }', {})).toMatchObject({
    errors: [
      {
        message: expect.stringContaining('is being rebuilt'),
        extensions: { code: 'unavailable' },
      },
    ],
  });
  await operate(['projection', 'rebuild'], installation.settings, after);
  expect(await status()).toMatchObject({ isOfThisRelease: true });
  await operate(['client', 'grant-scopes', '--all'], installation.settings, after);
  const people = await openPeople(installation);
  const { token } = people.administrator;
  const session = restSessionOver(restClientOf(installation));
  const user = { id: carla.userId, name: 'Carla', department: null, floor: 3, phone: null };
  const added = { urgency: 'low', place: null };
  expect((await session.read(`/users/${carla.userId}`, { token })).body).toMatchObject(user);
  expect((await session.read('/users', { token })).body).toContainEqual(expect.objectContaining(user));
  // The former release may not have projected it before its end.
  const read = () => session.read(`/tickets/${ticket}`, { token });
  const { body } = await until(read, ({ status }) => status === 200);
  expect(body).toMatchObject({ subject: 'It burns', ...added });
  const asked = `{ user(id: "${carla.userId}") { name department floor phone } ticket(id: "${ticket}") { urgency place } }`;
  expect(await graphqlClientOf(installation)(asked, { token })).toMatchObject({
    data: { user: { name: 'Carla', department: null, floor: 3, phone: null }, ticket: added },
  });
  expect((await session.read(`/tickets/${ticket}?at=v1`, { token })).body).toMatchObject(added);
  expect((await session.read(`/users/${carla.userId}?at=v1`, { token })).body).toMatchObject({
    floor: 3,
    department: null,
  });
  expect(
    (await session.read<readonly object[]>('/events?types=ticket.opened', { token })).body,
  ).toMatchObject([{ subject: `ticket-${ticket}`, data: { subject: 'It burns', ...added } }]);

  const visitAt = async (path: string) => (await session.read(`/visits/${path}`, { token })).body;
  expect(await visitAt(`${visits.kept}`)).toMatchObject({ guest: 'Vera of the visits', hours: 3 });
  expect(await visitAt(`${visits.kept}?at=v1`)).toMatchObject({ guest: 'Vera of the visits', hours: 2 });
  // The former release may not have projected the deletion before its end, and the key is destroyed soon
  // after.
  const erasedAt = (at: string) =>
    until(
      () => visitAt(`${visits.erased}${at}`),
      (visit) => (visit as { readonly guest: unknown }).guest === null,
    );
  expect(await erasedAt('')).toMatchObject({ hours: 2 });
  expect(await erasedAt('?at=v1')).toMatchObject({ hours: 2 });
  const query = `{ visit(id: "${visits.kept}") { guest hours } former: visit(id: "${visits.kept}", at: "v1") { hours } }`;
  expect(await graphqlClientOf(installation)(query, { token })).toMatchObject({
    data: { visit: { guest: 'Vera of the visits', hours: 3 }, former: { hours: 2 } },
  });
  const { body: visited } = await session.read<History>(`/visits/${visits.kept}/history`, { token });
  expect(visited[0]).toMatchObject({
    type: 'visit.prolonged',
    changes: [{ field: 'hours', from: 2, to: 3 }],
  });
  const delivered = async () =>
    (
      await session.read<readonly { readonly data: { readonly guest?: unknown } }[]>(
        '/events?types=visit.*',
        { token },
      )
    ).body;
  expect(await delivered()).toMatchObject([
    { type: 'visit.booked', data: { guest: 'Vera of the visits', hours: 2 } },
    { type: 'visit.booked', data: { guest: null, hours: 2 } },
    { type: 'visit.prolonged', data: { hours: 3 } },
  ]);

  const { body: shown } = await session.read(`/webhooks/${webhook}`, { token });
  expect(shown).toMatchObject({ withheld: [{ eventType: '*', scope: 'read:notes' }] });
  await session.write('POST', '/notes', { token, body: { text: 'Not delivered' } });

  const merge = 'application/merge-patch+json';
  await session.write('PATCH', `/users/${carla.userId}`, {
    token,
    type: merge,
    body: { department: 'Press', phone: '123' },
  });
  await session.write('PATCH', `/tickets/${ticket}`, { token, type: merge, body: { place: 'Cellar' } });
  expect((await session.read(`/users/${carla.userId}`, { token })).body).toMatchObject({
    ...user,
    department: 'Press',
    phone: '123',
  });
  const { body: history } = await session.read<History>(`/tickets/${ticket}/history`, { token });
  expect(history[0]).toMatchObject({
    type: 'ticket.changed',
    changes: [{ field: 'place', from: null, to: 'Cellar' }],
  });
  const received = () =>
    sink.received.map(({ body }) => (JSON.parse(body) as { readonly type: string }).type);
  expect(await until(received, (types) => types.includes('ticket.changed'))).not.toContain('note.written');
  // Decided on the upcast state: the same value changes nothing.
  await session.write('PATCH', `/visits/${visits.kept}`, { token, type: merge, body: { hours: 3 } });
  const { body: latest } = await session.read<History>(`/visits/${visits.kept}/history`, { token });
  expect(latest).toEqual(visited);
  expect(await operate(['audit', 'verify'], installation.settings, after)).toContain('Proven');

  // The former read model has it under its former name.
  const lying = async () =>
    (await searchDatabase(database.url, ['Vera of the visits'])).map(({ place }) => place);
  expect(await lying()).toEqual(['read_model.visits', 'read_model_previous.visits']);
  await session.write('DELETE', `/users/${carla.userId}`, { token });
  await until(lying, (places) => places.length === 0);
});
