import { expect } from 'vitest';
import type { Person, TokenHolder } from '../../testing/http/people.ts';
import { privateHelpdesk } from './private-helpdesk.ts';
import { test as base } from './toy-fixture.ts';

/**
 * Users who may not see each other, on every surface. Carla and Carl are customers: they read themselves and
 * Agnes, who is an agent and reads everybody. The tests depend on each other.
 */
type Body = Readonly<Record<string, unknown>>;
const NAME = 'Carla';
const TICKET = '{ id customer { id name } assignee { name } watchers { person { name } } }';

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: privateHelpdesk } })
  .extend('everybody', { scope: 'file' }, async ({ people, signUpAs }) => ({
    carla: await people.signUp(NAME),
    carl: await people.signUp('Carl'),
    agnes: await signUpAs('Agnes', 'agent'),
  }))
  .extend('received', { scope: 'file' }, async ({ followAs, everybody: { carl, agnes } }) => ({
    carl: await followAs(carl),
    agnes: await followAs(agnes),
  }))
  /** A ticket of Carla that everybody reads. Carl watches it. */
  .extend(
    'ticket',
    { scope: 'file' },
    async ({ session, everybody: { carla, carl, agnes }, received: _open }) => {
      const body = { subject: 'The printer burns' };
      const { id } = (await session.write('POST', '/tickets', { token: carla.token, body })).written;
      const path = `/tickets/${id}`;
      await session.write('PATCH', path, { token: carla.token, body: { assigneeId: agnes.userId } });
      for (const { userId } of [carla, carl])
        await session.write('POST', `${path}/watchers`, { token: agnes.token, body: { personId: userId } });
      await session.write('POST', `${path}/share`, { token: carla.token });
      return { id, path };
    },
  )
  .extend(
    'read',
    { scope: 'file' },
    ({ session }) =>
      async (at: string, by: TokenHolder) =>
        (await session.read<Body & Body[]>(at, { token: by.token })).body,
  );

test('lists, searches and items have the users whom the caller may read', async ({
  ask,
  everybody: { carla, carl, agnes },
  people: { administrator },
  read,
}) => {
  const namesFor = async (query: string, by: TokenHolder) =>
    (await read(`/users?limit=100${query}`, by)).map(({ name }) => name).toSorted();
  expect(await namesFor('', carl)).toEqual(['Agnes', 'Carl']);
  expect(await namesFor('', agnes)).toEqual(expect.arrayContaining(['Agnes', 'Carl', NAME]));
  for (const by of [agnes, administrator]) expect(await namesFor(`&q=${NAME}`, by)).toEqual([NAME]);
  expect(await namesFor(`&q=${NAME}`, carl)).toEqual([]);
  const [unreadable, missing] = [`/users/${carla.userId}`, '/users/999999'];
  for (const path of [unreadable, `${unreadable}/history`, `${unreadable}?at=v1`, missing])
    expect(await ask('GET', path, { token: carl.token }), path).toMatchObject({
      status: 404,
      body: { code: 'user_not_found' },
    });
  for (const path of ['/users', unreadable]) expect((await ask('GET', path)).status, path).toBe(401);
  expect((await ask('PATCH', unreadable, { token: carl.token, body: { name: 'Me' } })).status).toBe(404);
});

test('the fields of a right of the domain are read by its holders, and the others by the user alone', async ({
  everybody: { carla, carl, agnes },
  read,
}) => {
  const fieldsFor = async (of: Person, by: Person) =>
    Object.keys(await read(`/users/${of.userId}`, by))
      .filter((name) => name !== '_links')
      .toSorted();
  const own = ['createdAt', 'email', 'id', 'name', 'phone', 'role', 'updatedAt'];
  expect(await fieldsFor(carl, carl)).toEqual(own);
  expect(await fieldsFor(carla, agnes)).toEqual(['email', 'id', 'name', 'phone']);
  expect(await fieldsFor(agnes, carl)).toEqual(['id', 'name']);
});

test('a reference to an unreadable user has its id alone, wherever it is', async ({
  everybody: { carla, carl, agnes },
  graphql,
  read,
  ticket: { id, path },
}) => {
  const hidden = { id: carla.userId, name: null };
  const shared = await read(path, carl);
  expect(shared).toMatchObject({ customer: hidden, assignee: { id: agnes.userId, name: 'Agnes' } });
  expect(shared._links).not.toHaveProperty('customer');
  expect(await read(`${path}?at=v5`, carl)).toMatchObject({ customer: hidden });
  expect(await read(path, agnes)).toMatchObject({ customer: { id: carla.userId, name: NAME } });
  expect((await read(`${path}/watchers`, carl)).map(({ person }) => person)).toEqual(
    expect.arrayContaining([hidden, { id: carl.userId, name: 'Carl' }]),
  );
  expect((await read('/demand', carl)).map(({ customer }) => customer)).toEqual([hidden]);
  const ask = async (by: Person) =>
    (
      await graphql<Body>(
        `{ ticket(id: "${id}") ${TICKET} users { name } user(id: "${carla.userId}") { id } demand(customer: "${carla.userId}") { tickets customer { name } } }`,
        { token: by.token },
      )
    ).data;
  expect(await ask(carl)).toEqual({
    ticket: {
      id: String(id),
      customer: null,
      assignee: { name: 'Agnes' },
      watchers: expect.arrayContaining([{ person: null }, { person: { name: 'Carl' } }]),
    },
    users: expect.not.arrayContaining([{ name: NAME }]),
    user: null,
    demand: { tickets: 1, customer: null },
  });
  expect(await ask(agnes)).toMatchObject({
    ticket: { customer: { name: NAME } },
    user: { id: String(carla.userId) },
    demand: { customer: { name: NAME } },
  });
});

test('the events of a user go to those who may read the user', async ({
  everybody: { carla, carl, agnes },
  received,
  session,
  ticket: { path },
}) => {
  await session.write('PATCH', `/users/${carla.userId}`, { token: carla.token, body: { phone: '4711' } });
  await session.write('PATCH', path, { token: agnes.token, body: { subject: 'The last one' } });
  type Event = { readonly type: string; readonly subject?: unknown; readonly actor?: string };
  for (const [name, stream] of Object.entries(received)) {
    await expect
      .poll(() => stream.messages.map(({ data }) => data).join('\n'), { timeout: 30_000 })
      .toContain('The last one');
    const text = stream.messages.map(({ data }) => data).join('\n');
    expect(text.includes('4711'), name).toBe(name === 'agnes');
    expect(text.includes(NAME), name).toBe(false);
  }
  const seen = await session.read<readonly Event[]>(`/events?user=${carla.userId}`, { token: carl.token });
  expect(JSON.stringify(seen.body)).not.toContain('user.updated');
  const { body } = await session.read<readonly Event[]>(`${path}/history`, { token: carl.token });
  expect(JSON.stringify(body)).toContain(`user:${carla.userId}`);
  expect(JSON.stringify(body)).not.toContain(NAME);
});

test('a deleted user looks like an unreadable one', async ({
  byAdmin,
  everybody: { carla, agnes, carl },
  graphql,
  session,
  ticket: { id, path },
}) => {
  const deleted = await byAdmin('DELETE', `/users/${carla.userId}`);
  const headers = { 'consistency-token': deleted.headers.get('consistency-token') ?? '' };
  for (const { token } of [agnes, carl]) {
    const { body } = await session.read<Body>(path, { token, headers });
    expect(body).toMatchObject({ customer: { id: carla.userId, name: null } });
    const { data } = await graphql<Body>(`{ ticket(id: "${id}") ${TICKET} }`, { token });
    expect(data).toMatchObject({ ticket: { customer: null } });
  }
});
