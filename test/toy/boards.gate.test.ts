// Over 200 lines, because every surface is tried on the one domain that is started here.
import { expect } from 'vitest';
import type { Person } from '../../testing/http/people.ts';
import { until } from '../../testing/until.ts';
import { operate } from '../engines/installation.ts';
import { boards } from './boards.ts';
import { test as base } from './toy-fixture.ts';

/** A child that moves below another parent goes with it, on every surface. The tests depend on each other. */
type Body = Readonly<Record<string, unknown>>;
type Entry = Body & { readonly type: string; readonly data: Body };

const NOBODY = 999_999;

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: boards } })
  .extend('everybody', { scope: 'file' }, async ({ people, signUpAs }) => ({
    ann: await people.signUp('Ann'),
    bob: await people.signUp('Bob'),
    guide: await signUpAs('Gil', 'guide'),
  }))
  .extend(
    'give',
    { scope: 'file' },
    ({ session }) =>
      async (by: Person, path: string, body?: object) =>
        (await session.write('POST', path, { token: by.token, ...(body && { body }) })).written,
  )
  .extend(
    'read',
    { scope: 'file' },
    ({ session }) =>
      async (by: Person, path: string) =>
        (await session.read<Body & Body[]>(path, { token: by.token })).body,
  )
  /** Two boards, of Ann and of Bob; Ann is a member of both, and follows both. A card with a remark on the first. */
  .extend('kept', { scope: 'file' }, async ({ give, everybody: { ann, bob }, sink, session }) => {
    const first = (await give(ann, '/boards', { title: 'Repairs' })).id;
    const second = (await give(bob, '/boards', { title: 'Garden' })).id;
    for (const [name, filter] of Object.entries({ first, second }))
      for (const payload of ['full', 'thin']) {
        const hook = {
          url: `${sink.url}/${name}/${payload}`,
          eventTypes: ['card.moved'],
          filter: { boardId: filter },
          payload,
        };
        await session.write('POST', '/webhooks', { token: (name === 'first' ? ann : bob).token, body: hook });
      }
    await give(bob, `/boards/${second}/members`, { personId: ann.userId });
    const { id: card } = await give(ann, `/boards/${first}/cards`, {
      title: 'The door sticks',
      urgent: true,
    });
    const { id: remark, cursor } = await give(ann, `/cards/${card}/remarks`, { text: 'Since May' });
    return { first, second, card, remark, before: cursor };
  })
  .extend('received', { scope: 'file' }, async ({ followAs, everybody: { ann, bob } }) => ({
    ann: await followAs(ann),
    bob: await followAs(bob),
  }))
  .extend(
    'moved',
    { scope: 'file' },
    async ({ kept: { card, second }, everybody: { guide }, give, received: _open }) =>
      (await give(guide, `/cards/${card}/move`, { boardId: second })).cursor,
  );

const idsOf = (items: readonly Body[]) => items.map(({ id }) => id);

test('a move into a parent that does not exist, or that the caller may not read, is refused at its place', async ({
  ask,
  kept: { card, first, second },
  give,
  everybody: { ann, bob },
}) => {
  const { id: hidden } = await give(bob, '/boards', { title: 'Hidden' });
  for (const boardId of [NOBODY, hidden]) {
    const { status, body } = await ask('POST', `/cards/${card}/move`, {
      token: ann.token,
      body: { boardId },
    });
    expect([status, body]).toMatchObject([
      422,
      { errors: [{ pointer: '/boardId', detail: 'There is no such board that you may read.' }] },
    ]);
  }
  // The right to move it must hold below both boards, and Ann keeps one of them.
  const refused = await ask('POST', `/cards/${card}/move`, { token: ann.token, body: { boardId: second } });
  expect([refused.status, (refused.body as Body).code]).toEqual([403, 'forbidden']);
  // Bob may not read the card.
  const body = { boardId: hidden };
  expect((await ask('POST', `/cards/${card}/move`, { token: bob.token, body })).status).toBe(404);
  expect((await ask('POST', `/cards/${card}/move`, { token: ann.token, body: {} })).status).toBe(422);
  const same = await ask('POST', `/cards/${card}/move`, { token: ann.token, body: { boardId: first } });
  expect([same.status, (same.body as Body).version]).toEqual([200, 1]);
});

test('lists, rights, and the children of the child follow at once', async ({
  kept: { first, second, card, remark },
  everybody: { ann, bob },
  read,
  ask,
  moved: _,
}) => {
  expect(await read(ann, `/boards/${first}/cards`)).toEqual([]);
  expect(idsOf(await read(bob, `/boards/${second}/cards`))).toEqual([card]);
  expect(await read(bob, `/cards/${card}`)).toMatchObject({ boardId: second, movedAt: expect.any(String) });
  expect(await read(bob, `/cards/${card}/remarks`)).toMatchObject([{ id: remark, cardId: card }]);
  expect(await read(ann, `/work?board=${first}`)).toEqual([]);
  expect(await read(ann, `/work?board=${second}`)).toMatchObject([
    { cards: 1, lastMovedAt: expect.any(String) },
  ]);
  await ask('DELETE', `/boards/${second}/members/${ann.userId}`, { token: bob.token });
  await until(
    () => ask('GET', `/cards/${card}`, { token: ann.token }),
    ({ status }) => status === 404,
  );
});

test('GraphQL lists the card under its board', async ({
  graphql,
  kept: { second, card },
  moved,
  everybody: { bob },
}) => {
  const { data } = await graphql<{ board: { cards: unknown; cardsConnection: unknown }; card: unknown }>(
    `query ($board: ID!, $card: ID!) {
      board(id: $board) { cards { id board { title } } cardsConnection { totalCount } }
      card(id: $card) { boardId: board { id } }
    }`,
    {
      token: bob.token,
      variables: { board: String(second), card: String(card) },
      headers: { 'consistency-token': moved },
    },
  );
  expect(data).toEqual({
    board: { cards: [{ id: String(card), board: { title: 'Garden' } }], cardsConnection: { totalCount: 1 } },
    card: { boardId: { id: String(second) } },
  });
});

test('former states and lists have the former parent', async ({
  kept: { first, second, card, before },
  moved,
  everybody: { ann, bob, guide },
  read,
  ask,
}) => {
  const at = (path: string, cursor: string) => `${path}?at=${encodeURIComponent(cursor)}`;
  expect(idsOf(await read(guide, at(`/boards/${first}/cards`, before)))).toEqual([card]);
  expect(await read(guide, at(`/boards/${second}/cards`, before))).toEqual([]);
  expect(await read(guide, at(`/boards/${first}/cards`, moved))).toEqual([]);
  expect(idsOf(await read(guide, at(`/boards/${second}/cards`, moved)))).toEqual([card]);
  expect(await read(guide, at(`/cards/${card}`, before))).toMatchObject({ boardId: first });
  // Bob could not read it then, and Ann cannot read it now.
  for (const { token } of [ann, bob])
    expect((await ask('GET', at(`/cards/${card}`, before), { token })).status).toBe(404);
  expect(await read(ann, at(`/boards/${first}/cards`, before))).toEqual([]);
});

test('the event names both parents, for followers of each', async ({
  kept: { first, second, card },
  moved: _,
  everybody: { ann, bob, guide },
  read,
  received,
  sink,
}) => {
  const data = { cardId: card, boardId: second, formerBoardId: first };
  for (const board of [first, second])
    expect(await read(guide, `/events?board=${board}&types=card.moved`)).toMatchObject([{ data }]);
  const movedIn = ({ messages }: (typeof received)['ann']) =>
    messages.map((message) => JSON.parse(message.data) as Entry).filter(({ type }) => type === 'card.moved');
  for (const each of [received.ann, received.bob]) {
    const [event] = await until(
      () => movedIn(each),
      ({ length }) => length > 0,
    );
    expect(event?.data).toMatchObject(data);
  }
  // Of what happened before, Bob learns nothing.
  const seen: readonly Body[] = await read(bob, `/events?board=${second}`);
  expect(seen.map(({ type }) => type)).not.toContain('card.written');
  for (const path of ['/first/full', '/second/full', '/first/thin', '/second/thin']) {
    const [delivery] = await until(
      () => sink.received.filter((each) => each.path === path),
      (all) => all.length === 1,
    );
    expect(JSON.parse(String(delivery?.body)), path).toMatchObject({ data });
  }
  // Ann, who may no longer read the card, sees ids alone.
  const [left] = await read(ann, `/events?board=${first}&types=card.moved`);
  expect(left?.data).toEqual({ ...data, authorId: ann.userId });
});

test('the child ends with its new parent, and not with its former one', async ({
  kept: { first, second, card, remark },
  moved: _,
  everybody: { bob, guide },
  session,
  give,
  ask,
}) => {
  const { id: stays } = await give(guide, `/boards/${first}/cards`, { title: 'A second one' });
  await session.write('DELETE', `/boards/${first}`, { token: guide.token });
  const statusOf = async (path: string) => (await ask('GET', path, { token: guide.token })).status;
  await until(
    () => statusOf(`/cards/${stays}/history`),
    (status) => status === 404,
  );
  expect(await statusOf(`/cards/${card}`)).toBe(200);
  await session.write('DELETE', `/boards/${second}`, { token: bob.token });
  for (const path of [`/cards/${card}/history`, `/remarks/${remark}/history`])
    await until(
      () => statusOf(path),
      (status) => status === 404,
    );
});

test('the read model equals the log', async ({ installation, moved: _ }) => {
  expect(await operate(['audit', 'verify'], installation.settings, boards)).toContain('Proven');
});
