// Over 200 lines, because every surface is tried on the one domain that is started here.
import { expect } from 'vitest';
import { ABSENT_TARGET } from '#kernel/conditions/references.ts';
import type { Person } from '../../testing/http/people.ts';
import { bookmarks } from './bookmarks.ts';
import { test as base } from './toy-fixture.ts';

/** A reference shows only what its reader may read of its target, on every surface. */
type Body = Readonly<Record<string, unknown>>;
const merge = 'application/merge-patch+json';
const NOBODY = 999_999;

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: bookmarks } })
  .extend('everybody', { scope: 'file' }, async ({ people, signUpAs }) => ({
    carla: await people.signUp('Carla'),
    carl: await people.signUp('Carl'),
    agent: await signUpAs('Agnes', 'agent'),
  }))
  .extend(
    'create',
    { scope: 'file' },
    ({ session }) =>
      async (by: Person, path: string, body: object): Promise<number> =>
        (await session.write('POST', path, { token: by.token, body })).written.id,
  )
  .extend(
    'read',
    { scope: 'file' },
    ({ session }) =>
      async (by: Person, path: string) =>
        (await session.read<Body>(path, { token: by.token })).body,
  )
  /** A ticket of Carla’s, its desk, and a bookmark of the agent’s, which Carl may read. */
  .extend('kept', async ({ create, everybody: { carla, agent }, session }) => {
    const desk = await create(agent, '/desks', { name: 'First floor', headId: agent.userId });
    const ticket = await create(carla, '/tickets', { subject: 'The printer burns', deskId: desk });
    const bookmark = await create(agent, '/bookmarks', { ticketId: ticket, note: 'Soon' });
    const item = await session.write('POST', `/bookmarks/${bookmark}/others`, {
      token: agent.token,
      body: { ticketId: ticket },
    });
    const { otherId } = item.body as { otherId: number };
    return { desk, ticket, bookmark, path: `/bookmarks/${bookmark}`, otherId, cursor: item.written.cursor };
  });

const QUERY = `query ($id: ID!, $ticket: ID!) {
  bookmark(id: $id) { id note ticketId ticket { id subject desk { name } } others { ticketId ticket { id subject } } }
  bookmarks(limit: 100) { id ticket { subject } }
  interest(ticket: $ticket) { ticketId ticket { subject } keeper { name } }
}`;
type Asked = { readonly subject: string } | null;
type Data = {
  readonly bookmark: { readonly ticket: Asked; readonly others: readonly { readonly ticket: Asked }[] };
  readonly bookmarks: readonly unknown[];
  readonly interest: { readonly ticket: Asked };
};

test('a write cannot refer to what does not exist or what its sender may not read', async ({
  ask,
  kept: { ticket, path },
  everybody: { carl, carla, agent },
  create,
}) => {
  const refusal = async (by: Person, method: string, at: string, body: object) => {
    const type = method === 'PATCH' ? merge : 'application/json';
    const reply = await ask(method, at, { token: by.token, body, type });
    const { code, errors } = reply.body as { code?: string; errors?: { pointer: string; detail: string }[] };
    return [reply.status, code, errors];
  };
  const unreadable = [
    422,
    'invalid_request',
    [{ pointer: '/ticketId', detail: 'There is no such ticket that you may read.' }],
  ];
  expect(await refusal(carl, 'POST', '/bookmarks', { ticketId: ticket })).toEqual(unreadable);
  expect(await refusal(carl, 'POST', '/bookmarks', { ticketId: NOBODY })).toEqual(unreadable);
  const own = await create(carl, '/tickets', {
    subject: 'Mine',
    deskId: await create(agent, '/desks', { name: 'Second', headId: carla.userId }),
  });
  const ours = `/bookmarks/${await create(carl, '/bookmarks', { ticketId: own })}`;
  expect(await refusal(carl, 'PATCH', ours, { ticketId: ticket })).toEqual(unreadable);
  expect((await refusal(carl, 'PATCH', ours, { ticketId: own, note: 'Mine' }))[0]).toBe(200);
  expect(await refusal(carl, 'POST', `${ours}/others`, { ticketId: ticket })).toEqual(unreadable);
  const body = { ticketId: NOBODY };
  expect((await refusal(agent, 'POST', `${path}/others`, body))[2]).toEqual([
    { pointer: '/ticketId', detail: 'There is no such ticket.' },
  ]);
  expect(await refusal(agent, 'POST', '/desks', { name: 'Third', headId: NOBODY })).toEqual([
    422,
    'invalid_request',
    [{ pointer: '/headId', detail: 'There is no such user.' }],
  ]);
});

test('a reference that did not change does not hinder other changes after its target has ended', async ({
  ask,
  session,
  kept: { ticket, path },
  everybody: { carla, agent },
}) => {
  await session.write('DELETE', `/tickets/${ticket}`, { token: carla.token });
  await session.write('PATCH', path, { token: agent.token, type: merge, body: { note: 'Later' } });
  const again = { token: agent.token, type: merge, body: { ticketId: ticket, note: 'Never' } };
  await session.write('PATCH', path, again);
  const body = { ticketId: ticket };
  expect((await ask('POST', '/bookmarks', { token: agent.token, body })).status).toBe(422);
});

test('GraphQL answers null and the id for a target that has ended or may not be read, on every list', async ({
  graphql,
  session,
  kept: { bookmark, ticket, desk, cursor },
  everybody: { carl, carla, agent },
}) => {
  const variables = { id: String(bookmark), ticket: String(ticket) };
  const read = async (by: Person, at: string) => {
    const headers = { 'consistency-token': at };
    const { data, errors } = await graphql<Data>(QUERY, { token: by.token, variables, headers });
    expect(errors).toBeUndefined();
    return data;
  };
  const absent = { ticketId: String(ticket), ticket: null };
  const nothing = { bookmark: { ...absent, others: [absent] }, interest: absent };
  expect(await read(carl, cursor)).toMatchObject(nothing);
  const before = await read(carla, cursor);
  expect(before).toMatchObject({
    bookmark: { ticket: { subject: 'The printer burns', desk: { name: 'First floor' } } },
    interest: { ticket: { subject: 'The printer burns' }, keeper: { name: 'Agnes' } },
  });
  const closed = await session.write('DELETE', `/desks/${desk}`, { token: agent.token });
  const closedAt = closed.headers.get('consistency-token') ?? '';
  expect(await read(carla, closedAt)).toMatchObject({ bookmark: { ticket: { desk: null } } });
  const gone = await session.write('DELETE', `/tickets/${ticket}`, { token: carla.token });
  const after = gone.headers.get('consistency-token') ?? '';
  for (const by of [carla, agent]) {
    const data = await read(by, after);
    expect(data).toMatchObject(nothing);
    expect(data.bookmarks.length).toBe(before.bookmarks.length);
  }
});

/** The ticket as each surface of REST shows it, and whether it is linked. */
const placesOf =
  (
    read: (by: Person, path: string) => Promise<Body>,
    kept: { bookmark: number; ticket: number; path: string; otherId: number },
  ) =>
  async (by: Person, at = '') => {
    const { bookmark, ticket, path, otherId } = kept;
    const one = async (list: string): Promise<Body | undefined> =>
      ((await read(by, list)) as unknown as readonly Body[]).find(
        ({ id }) => id === bookmark || id === otherId,
      );
    const rows = [
      await read(by, `${path}${at}`),
      await one(`/bookmarks?limit=100${at.replace('?', '&')}`),
      await one(`${path}/others${at}`),
      await read(by, `${path}/others/${otherId}${at}`),
      ...(at === '' ? [await read(by, `/interest/${ticket}`)] : []),
    ];
    return rows.map((row) => [row?.ticket, Object.hasOwn(row?._links as object, 'ticket')]);
  };

test('REST shows the label of a target only to its readers, and an ended target in the same way', async ({
  read,
  session,
  kept,
  everybody: { carl, carla, agent },
}) => {
  const places = placesOf(read, kept);
  const shown = [{ id: kept.ticket, subject: 'The printer burns' }, true];
  const hidden = [{ id: kept.ticket, subject: null }, false];
  for (const by of [carla, agent]) expect(await places(by)).toEqual(Array(5).fill(shown));
  expect(await places(carl)).toEqual(Array(5).fill(hidden));
  await session.write('DELETE', `/tickets/${kept.ticket}`, { token: carla.token });
  for (const by of [carl, carla, agent]) expect(await places(by)).toEqual(Array(5).fill(hidden));
});

test('with `at`, a label is shown to those who may read the target now and could have then', async ({
  graphql,
  read,
  session,
  kept,
  everybody: { carl, carla },
}) => {
  const places = placesOf(read, kept);
  const change = async (command: string): Promise<string> => {
    const reply = await session.write('POST', `/tickets/${kept.ticket}/${command}`, { token: carla.token });
    return reply.written.cursor;
  };
  const { cursor: open } = kept;
  const shared = await change('share');
  const [shownThen, hiddenThen] = ['The printer burns', null].map((subject) =>
    Array(4).fill([{ id: kept.ticket, subject }, false]),
  );
  const subjects = async (by: Person, at: string) =>
    (await places(by, `?at=${at}`)).map(([target]) => [target, false]);
  expect(await subjects(carl, shared)).toEqual(shownThen);
  expect(await subjects(carl, open)).toEqual(hiddenThen);
  await change('hide');
  expect(await subjects(carl, shared)).toEqual(hiddenThen);
  expect(await subjects(carla, shared)).toEqual(shownThen);
  await session.write('DELETE', `/tickets/${kept.ticket}`, { token: carla.token });
  expect(await subjects(carla, shared)).toEqual(hiddenThen);
  const query = `{ bookmark(id: ${kept.bookmark}, at: "${shared}") { ticketId ticket { subject } others { ticketId ticket { subject } } } }`;
  const { data, errors } = await graphql(query, { token: carla.token });
  const absent = { ticketId: String(kept.ticket), ticket: null };
  expect([errors, data]).toEqual([undefined, { bookmark: { ...absent, others: [absent] } }]);
});

test('the description allows a label to be null, and says when', async ({
  session,
  everybody: { agent },
}) => {
  const { body } = await session.read<{
    components: {
      schemas: Record<string, { properties: Record<string, { properties: Record<string, object> }> }>;
    };
  }>('/openapi.json', { token: agent.token });
  for (const name of ['Bookmark', 'BookmarkOther', 'Interest'])
    expect(body.components.schemas[name]?.properties.ticket?.properties.subject).toMatchObject({
      description: ABSENT_TARGET,
      anyOf: [{ type: 'string' }, { type: 'null' }],
    });
  const keeper = body.components.schemas.Bookmark?.properties.keeper?.properties.name;
  expect(keeper).toMatchObject({ type: 'string' });
});
