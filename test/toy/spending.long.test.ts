// Over 200 lines, because every case uses the one installation and the people that are set up here.
import { expect } from 'vitest';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import { follow } from '../../testing/http/event-source.ts';
import type { TokenHolder } from '../../testing/http/people.ts';
import { until } from '../../testing/until.ts';
import { spendingDomain } from './spending.ts';
import { test as base } from './toy-fixture.ts';

/** What `describeDomain` does not try of views: single rows, filters, cursors, tags, streams of some rows. */
type Row = Readonly<Record<string, unknown>> & { readonly team: { readonly id: number } };

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: spendingDomain } })
  .extend('everybody', { scope: 'file' }, async ({ people }) => {
    const serve = async (role: string) => people.tokenOf(await people.registerService(role));
    return {
      eve: await people.signUp('Eve'),
      ann: await serve('approver'),
      bob: await serve('approver'),
      accountant: await serve('accountant'),
    };
  })
  .extend('writes', { scope: 'file' }, ({ everybody: { ann, eve }, session: { write } }) => ({
    open: async ({ token, userId }: TokenHolder, budget: number): Promise<number> => {
      const body = { name: `Team ${budget}`, approverId: userId, budget };
      return (await write('POST', '/teams', { token, body })).written.id;
    },
    request: async (teamId: number | undefined, amount: number, actions: readonly string[]) => {
      const body = { purpose: 'Strasbourg', category: 'travel', amount, teamId: teamId ?? null };
      const { id } = (await write('POST', '/requests', { token: eve.token, body })).written;
      for (const action of actions) await write('POST', `/requests/${id}/${action}`, { token: ann.token });
    },
  }))
  /** With requests. */
  .extend(
    'teams',
    { scope: 'file' },
    async ({ writes: { open, request }, everybody: { ann, bob } }): Promise<readonly number[]> => {
      const [first, second, third] = [await open(ann, 100), await open(bob, 200), await open(bob, 300)];
      await request(first, 30, ['submit', 'approve', 'pay']);
      await request(first, 40, ['submit']);
      await request(second, 50, ['submit', 'approve']);
      await request(third, 60, ['submit', 'approve', 'pay']);
      return [first, second, third];
    },
  )
  .extend('views', { scope: 'file' }, ({ everybody: { accountant }, installation, session, teams }) => {
    const read = (path: string, { token }: TokenHolder = accountant) =>
      session.read<Row & Row[]>(path, { token });
    return {
      read,
      teamsIn: async (path: string, by?: TokenHolder) =>
        (await read(path, by)).body.map(({ team }) => teams.indexOf(team.id)),
      watch: ({ token }: TokenHolder, query = '', headers = {}) =>
        follow(`${installation.url}/spending${query}`, {
          fetch: installation.fetch,
          headers: { authorization: `Bearer ${token}`, ...headers },
        }),
    };
  })
  .extend(
    'edit',
    { scope: 'file' },
    ({ everybody: { ann }, session, teams }) =>
      (index: number, budget: number) =>
        session.write('PATCH', `/teams/${teams[index]}`, {
          token: ann.token,
          body: { budget },
          headers: { 'if-match': '*' },
        }),
  );

test('a row shows its key with labels, its values, and the targets of its key', async ({
  everybody: { eve, ann },
  teams,
  views: { read },
}) => {
  const { status, body } = await read(`/spending/${teams[0]}`, ann);
  expect([status, body]).toEqual([
    200,
    {
      team: { id: teams[0], name: 'Team 100' },
      ...{
        budget: 100,
        waiting: 1,
        approved: 0,
        paid: 30,
        reminders: 0,
        lastPaidAt: expect.stringMatching(/Z$/),
        lastPurpose: 'travel',
      },
      _links: { self: { href: `/spending/${teams[0]}` }, team: { href: `/teams/${teams[0]}` } },
    },
  ]);
  const asking = await read(`/asking/${eve.userId}/travel`, eve);
  expect(asking.body).toMatchObject({
    employee: { id: eve.userId, name: 'Eve' },
    category: 'travel',
    requests: 4,
    amount: 180,
    owed: 0,
  });
});

test('a row is absent without the right to it or with an invalid key', async ({
  ask,
  everybody: { eve, ann, bob, accountant },
  teams,
  views: { read },
}) => {
  const absent = async (path: string, by: TokenHolder) => {
    const { status, body } = await read(path, by);
    return [status, body.code];
  };
  for (const by of [bob, eve])
    expect(await absent(`/spending/${teams[0]}`, by)).toEqual([404, 'spending_not_found']);
  for (const key of ['0', 'x', '9007199254740993', '%00'])
    expect(await absent(`/spending/${key}`, accountant)).toEqual([404, 'spending_not_found']);
  for (const [key, by] of [
    ['travel', ann],
    ['trifles', accountant],
  ] as const)
    expect(await absent(`/asking/${eve.userId}/${key}`, by)).toEqual([404, 'asking_not_found']);
  expect((await ask('GET', `/spending/${teams[0]}`)).status).toBe(401);
});

test('lists are filtered by the key, and refuse other parameters', async ({
  everybody: { ann },
  teams,
  views: { read, teamsIn },
}) => {
  expect(await teamsIn(`/spending?team=${teams[1]}`)).toEqual([1]);
  expect(await teamsIn(`/spending?team=${teams[1]}`, ann)).toEqual([]);
  expect((await read('/asking?category=meals')).body).toEqual([]);
  for (const query of ['sort=budget', 'sort=x', 'category=travel', 'at=v1', 'limit=0', 'team=x'])
    expect([query, (await read(`/spending?${query}`)).status]).toEqual([query, 400]);
});

test('time travel is refused with an explanation', async ({ graphql, teams, views: { read } }) => {
  const errors = [
    {
      parameter: 'at',
      detail: 'Time travel is not possible here. Omit the parameter to read the current state.',
    },
  ];
  for (const path of ['/spending', `/spending/${teams[0]}`])
    for (const at of ['v1', '2026-11-21T10:15:00Z'])
      expect((await read(`${path}?at=${at}`)).body).toMatchObject({ code: 'invalid_parameter', errors });
  expect(await graphql(`{ spending(team: "${teams[0]}", at: "v1") { paid } }`)).toMatchObject({
    errors: [{}],
  });
});

const linkIn = (header: string | null, rel: string): string | undefined =>
  new RegExp(`<([^>]*)>; rel="${rel}"`).exec(header ?? '')?.[1];

test('a cursor belongs to its own list, and invalid parameters are refused', async ({ views: { read } }) => {
  const { headers } = await read('/spending?limit=1');
  const after = new URLSearchParams(linkIn(headers.get('link'), 'next')?.split('?')[1]).get('after') ?? '';
  expect((await read(`/spending?limit=1&after=${after}`)).status).toBe(200);
  const [identity] = JSON.parse(Buffer.from(after, 'base64url').toString());
  const forged = [
    [identity, '1; drop'],
    [identity],
    [identity, '1', '2'],
    [identity, 1],
    [identity, '9'.repeat(30)],
    'x',
  ];
  for (const each of [
    after.slice(1),
    ...forged.map((made) => Buffer.from(JSON.stringify(made)).toString('base64url')),
  ])
    expect((await read(`/spending?after=${each}`)).status).toBe(400);
  expect((await read(`/spending?sort=-team&after=${after}`)).status).toBe(400);
});

test('an unchanged row or page gives 304, until it changes', async ({
  writes: { request },
  everybody: { accountant },
  session,
  teams,
  views: { read },
}) => {
  for (const path of [`/spending/${teams[1]}`, '/spending']) {
    const { headers } = await read(path);
    const again = () =>
      session.read(path, {
        token: accountant.token,
        headers: { 'if-none-match': headers.get('etag') ?? '' },
      });
    expect((await again()).status).toBe(304);
    await request(teams[1], 1, ['submit']);
    expect((await again()).status).toBe(200);
  }
});

type Notification = {
  readonly type: string;
  readonly key?: { readonly team: number };
  readonly row?: Row & { readonly budget: number };
};
test('a stream of its rows begins with all visible ones, delivers changes, and resumes', async ({
  edit,
  everybody: { ann, bob },
  teams,
  views: { watch },
}) => {
  const stream = await watch(bob);
  expect([stream.status, stream.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  const [reset, ...rows] = await stream.data<Notification>(3);
  expect(reset).toEqual({ type: 'reset' });
  expect(rows.map(({ key, row }) => [key?.team, row?._links])).toEqual(
    [teams[1], teams[2]].map((id) => [
      id,
      { self: { href: `/spending/${id}` }, team: { href: `/teams/${id}` } },
    ]),
  );
  await edit(0, 101);
  await edit(1, 201);
  expect((await stream.data<Notification>(4)).at(-1)).toMatchObject({
    type: 'changed',
    key: { team: teams[1] },
    row: { budget: 201 },
  });
  const after = await until(stream.lastEventId, (id) =>
    id.endsWith(stream.messages.at(-1)?.id.slice(-9) ?? ''),
  );
  await stream.close();
  await edit(2, 301);
  const again = await watch(bob, '', { 'last-event-id': after });
  expect((await again.data<Notification>(1)).map(({ type, key }) => [type, key?.team])).toEqual([
    ['changed', teams[2]],
  ]);
  await again.close();
  // A reader with other rights, or of another list, starts from the beginning.
  for (const [by, query, row] of [
    [ann, `?after=${after}`, teams[0]],
    [bob, `?after=${after}&team=${teams[2]}`, teams[2]],
  ] as const) {
    await using other = await watch(by, query);
    expect((await other.data<Notification>(2)).map(({ type, key }) => [type, key?.team])).toEqual([
      ['reset', undefined],
      ['changed', row],
    ]);
  }
});

test('a subscriber without the right, or to an unknown view, is refused', async ({
  everybody: { eve, accountant },
  installation,
  views: { watch },
}) => {
  expect((await watch(eve)).status).toBe(403);
  expect((await follow(`${installation.url}/spending`, { fetch: installation.fetch })).status).toBe(401);
  for (const query of ['?sort=paid', '?limit=3', '?after=x', '?after=00000000-1', '?team=x', '?before=1'])
    expect([query, (await watch(accountant, query)).status]).toEqual([query, 400]);
});

test('a subscription of GraphQL delivers the same, with the requested fields', async ({
  writes: { open, request },
  edit,
  everybody: { eve, ann },
  installation,
  teams,
}) => {
  const query = `subscription ($team: ID, $after: Cursor) {
    spendingChanged(team: $team, after: $after) { cursor type key { team } row { budget team { name } } }
  }`;
  type Data = { readonly spendingChanged: { readonly cursor: string } };
  const stream = await streamOf(installation, query, { token: ann.token });
  const [reset, first] = await stream.results<Data>(2);
  expect(reset?.data).toEqual({
    spendingChanged: { cursor: expect.any(String), type: 'RESET', key: null, row: null },
  });
  expect(first?.data?.spendingChanged).toMatchObject({
    type: 'CHANGED',
    key: { team: String(teams[0]) },
    row: { team: { name: 'Team 100' } },
  });
  await edit(0, 102);
  const changed = (await stream.results<Data>(3)).at(-1)?.data?.spendingChanged;
  expect(changed).toMatchObject({ type: 'CHANGED', row: { budget: 102 } });
  await stream.close();
  const closed = await open(ann, 400);
  await request(closed, 5, ['submit']);
  await edit(0, 103);
  const again = await streamOf(installation, query, {
    token: ann.token,
    variables: { after: changed?.cursor },
  });
  const seen = async () =>
    JSON.stringify((await again.results<Data>(1)).map(({ data }) => data?.spendingChanged));
  expect(
    await until(seen, (text) => text.includes('"budget":103') && text.includes('"budget":400')),
  ).not.toContain('RESET');
  await again.close();
  await using stranger = await streamOf(installation, query, { token: eve.token });
  expect(await stranger.results(1)).toEqual([
    { data: { spendingChanged: expect.objectContaining({ type: 'RESET' }) } },
  ]);
  await edit(0, 104);
  await until(stranger.lastEventId, (id) => id !== '' && id !== stranger.messages[0]?.id);
  expect(stranger.messages.length).toBe(1);
});
