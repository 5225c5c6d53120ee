import { expect, expectTypeOf } from 'vitest';
import type { Client } from '../../client/types/client.ts';
import type { AnyEvent } from '../../client/types/events.ts';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import { until } from '../../testing/until.ts';
import { operate } from '../engines/installation.ts';
import { bookmarks } from './bookmarks.ts';
import { test as base } from './toy-fixture.ts';

/** A reference with `gone: 'null'` is null after the end of its target, on every surface alike. */
type Place = { readonly id: number; readonly name: string | null } | null;
type Body = { readonly id?: number; readonly place: Place };
type Event = {
  readonly type: string;
  readonly subject?: string;
  readonly data: Readonly<Record<string, unknown>>;
};

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: bookmarks } })
  .extend('agent', { scope: 'file' }, ({ signUpAs }) => signUpAs('Agnes', 'agent'))
  /** A bookmark at a desk, with an item at it, and what happened when the desk was closed. */
  .extend(
    'ended',
    { scope: 'file' },
    async ({ agent, followAs, installation, session, sink }, { onCleanup }) => {
      const { token } = agent;
      const hook = { url: `${sink.url}/ends`, eventTypes: ['bookmark.*'], payload: 'full' };
      await session.write('POST', '/webhooks', { token, body: hook });
      const create = async (path: string, body: object) =>
        (await session.write('POST', path, { token, body })).written;
      const { id: desk } = await create('/desks', { name: 'First floor', headId: agent.userId });
      const { id: ticket } = await create('/tickets', { subject: 'It burns', deskId: desk });
      const { id } = await create('/bookmarks', { ticketId: ticket, placeId: desk });
      const { cursor: before } = await create(`/bookmarks/${id}/others`, { ticketId: ticket, placeId: desk });
      const stream = await followAs(agent);
      const asked = `subscription { bookmarkChanged(id: "${id}") {
      type bookmark { place { id } others { place { id } } } } }`;
      const changes = await streamOf(installation, asked, { token });
      onCleanup(() => changes[Symbol.asyncDispose]());
      await session.write('DELETE', `/desks/${desk}`, { token });
      const path = `/bookmarks/${id}`;
      const isEmpty = async () => {
        const others = (await session.read<readonly Body[]>(`${path}/others`, agent)).body;
        return [(await session.read<Body>(path, agent)).body, ...others].every(({ place }) => place === null);
      };
      await until(isEmpty, Boolean);
      return { desk, ticket, id, path, before, stream, changes };
    },
  );

test('REST shows null in the item, in lists, and in items of lists; filters find nothing', async ({
  agent,
  ended: { desk, ticket, id, path },
  session,
}) => {
  const read = async <Shown>(at: string) => (await session.read<Shown>(at, agent)).body;
  expect(await read<Body>(path)).toMatchObject({ place: null, ticket: { id: ticket } });
  const all = await read<readonly Body[]>('/bookmarks');
  expect(all.find((each) => each.id === id)?.place).toBeNull();
  expect((await read<readonly Body[]>(`${path}/others`)).map(({ place }) => place)).toEqual([null]);
  expect(await read(`/bookmarks?place=${desk}`)).toEqual([]);
  expect(await read(`${path}/others?place=${desk}`)).toEqual([]);
  expect(await read('/shelf')).toEqual([]);
});

test('with `at`, the reference still leads to its former target', async ({
  agent,
  ended: { desk, path, before },
  session,
}) => {
  const { body } = await session.read<Body>(`${path}?at=${before}`, agent);
  expect(body.place).toMatchObject({ id: desk });
  const others = await session.read<readonly Body[]>(`${path}/others?at=${before}&place=${desk}`, agent);
  expect(others.body.map(({ place }) => place)).toMatchObject([{ id: desk }]);
});

test('GraphQL answers null', async ({ agent, ended: { id, desk }, graphql }) => {
  const { data, errors } = await graphql(
    `{ bookmark(id: "${id}") { place { id } others { place { id } } }
      bookmarks(filter: { place: "${desk}" }) { id } }`,
    agent,
  );
  expect([errors, data]).toEqual([
    undefined,
    { bookmark: { place: null, others: [{ place: null }] }, bookmarks: [] },
  ]);
});

test('the history, the page of events and the stream have an event for each reference', async ({
  agent,
  ended: { id, path, stream },
  session,
}) => {
  const types = ['bookmark.placeGone', 'bookmark.othersPlaceGone'].toSorted();
  const history = await session.read<readonly { type: string }[]>(`${path}/history`, agent);
  expect(
    history.body
      .slice(0, 2)
      .map(({ type }) => type)
      .toSorted(),
  ).toEqual(types);
  const events = await session.read<readonly Event[]>(`/events?subject=bookmark-${id}&limit=100`, agent);
  const ends = events.body.filter(({ type }) => type.endsWith('Gone'));
  expect(ends.map(({ type }) => type).toSorted()).toEqual(types);
  expect(ends.find(({ type }) => type === 'bookmark.othersPlaceGone')?.data).toMatchObject({
    bookmarkId: id,
    otherId: 1,
    placeId: null,
  });
  await until(
    () => stream.messages.filter(({ data }) => types.some((type) => data.includes(`"${type}"`))).length,
    (count) => count === 2,
  );
});

/** An event of an item names what it set; the type of an event of the aggregate says it. */
const DATA = [
  ['bookmark.othersPlaceGone', null],
  ['bookmark.placeGone', undefined],
];

test('a webhook receives an event for each reference', async ({ ended: { id }, sink }) => {
  const ends = () =>
    sink.received
      .filter(({ path }) => path === '/ends')
      .map(({ body }) => JSON.parse(String(body)) as Event)
      .filter(({ type, subject }) => type.endsWith('Gone') && subject === `bookmark-${id}`)
      .map(({ type, data }) => [type, data.placeId])
      .toSorted();
  expect(await until(ends, ({ length }) => length === 2)).toEqual(DATA);
});

test('a subscription of GraphQL delivers both events, the last with null in both references', async ({
  ended: { changes },
}) => {
  type Change = { readonly type: string; readonly bookmark: object };
  const results = await until(
    async () =>
      (await changes.results<{ readonly bookmarkChanged: Change }>(2))
        .flatMap(({ data }) => data?.bookmarkChanged ?? [])
        .filter(({ type }) => type.endsWith('Gone')),
    ({ length }) => length === 2,
  );
  expect(results.map(({ type }) => type).toSorted()).toEqual(DATA.map(([type]) => type));
  expect(results.at(-1)).toMatchObject({ bookmark: { place: null, others: [{ place: null }] } });
});

test('an export of the log has both events, and the proof covers them', async ({
  ended: { id },
  installation,
  people: { administrator },
}) => {
  const headers = { authorization: `Bearer ${administrator.token}` };
  const reply = await fetch(`${installation.url}/audit/export`, { headers });
  const lines = (await reply.text()).split('\n').filter((line) => line.includes(`"bookmark-${id}"`));
  const ends = lines.map((line) => JSON.parse(line) as Event).filter(({ type }) => type.endsWith('Gone'));
  expect(ends.map(({ type, data }) => [type, data.placeId]).toSorted()).toEqual(DATA);
  expect(await operate(['audit', 'verify'], installation.settings, bookmarks)).toContain('Proven');
});

test('the types of the client know that the reference may be null, and the events', () => {
  type Api = Client<typeof bookmarks>;
  type Bookmark = Awaited<ReturnType<Api['bookmarks']['get']>>;
  expectTypeOf<Bookmark['place']>().toEqualTypeOf<Place>();
  expectTypeOf<Extract<AnyEvent<typeof bookmarks>['type'], `${string}Gone`>>().toEqualTypeOf<
    'bookmark.placeGone' | 'bookmark.othersPlaceGone'
  >();
});
