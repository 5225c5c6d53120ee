// Over 200 lines, because every surface is tried on the one toy domain that is started here.
import { expect } from 'vitest';
import { expenses } from './expenses.ts';
import { test as base } from './toy-fixture.ts';

/**
 * What `describeDomain` does not try of lists of items: codes, former states, preferences and the results of
 * mutations. The tests depend on each other.
 */
const merge = 'application/merge-patch+json';
type Linked = {
  readonly id: number;
  readonly _links: Readonly<Record<string, { readonly href: string; readonly method?: string }>>;
};

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: expenses } })
  .extend('eve', { scope: 'file' }, ({ people }) => people.signUp('Eve'))
  .extend('bert', { scope: 'file' }, ({ people }) => people.signUp('Bert'))
  .extend(
    'draft',
    { scope: 'file' },
    ({ eve, session }) =>
      async (purpose: string) =>
        (await session.write('POST', '/claims', { token: eve.token, body: { purpose } })).written.id,
  )
  .extend('claim', { scope: 'file' }, async ({ draft }) => `/claims/${await draft('Strasbourg')}`)
  .extend(
    'read',
    { scope: 'file' },
    ({ eve, session }) =>
      (path: string) =>
        session.read<Linked & Linked[]>(path, { token: eve.token }),
  )
  .extend(
    'amounts',
    { scope: 'file' },
    ({ claim, read }) =>
      async (path = `${claim}/items`) =>
        (await read(path)).body.map((item) => (item as unknown as { amount: number }).amount),
  );

test('items are added, identified, listed in order, and read one by one', async ({
  amounts,
  claim,
  eve,
  read,
  session,
}) => {
  const added = await session.write('POST', `${claim}/items`, {
    token: eve.token,
    body: { amount: 100, note: 'Taxi' },
  });
  expect(added.status).toBe(201);
  expect(added.written).toMatchObject({
    itemId: 1,
    version: 2,
    _links: { self: { href: `${claim}/items/1` } },
  });
  expect(added.headers.get('location')).toBe(`${claim}/items/1`);
  for (const amount of [200, 300])
    await session.write('POST', `${claim}/items`, { token: eve.token, body: { amount } });
  expect((await read(`${claim}/items/1`)).body).toEqual({
    ...{
      id: 1,
      category: 'other',
      amount: 100,
      note: 'Taxi',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    },
    _links: {
      self: { href: `${claim}/items/1` },
      claim: { href: claim },
      edit: { href: `${claim}/items/1`, method: 'PATCH' },
      'move-item': { href: `${claim}/items/1/move`, method: 'POST' },
      'remove-item': { href: `${claim}/items/1`, method: 'DELETE' },
    },
  });
  expect(await amounts()).toEqual([100, 200, 300]);
  expect((await read(claim)).body).not.toHaveProperty('items');
  expect((await read(claim)).body._links).toMatchObject({
    items: { href: `${claim}/items` },
    'add-item': { href: `${claim}/items`, method: 'POST' },
  });
});

test('items are changed, moved and removed, and absent ones are not found', async ({
  amounts,
  ask,
  claim,
  eve,
  session,
}) => {
  await session.write('PATCH', `${claim}/items/2`, { token: eve.token, type: merge, body: { amount: 250 } });
  await session.write('POST', `${claim}/items/3/move`, { token: eve.token, body: { before: 1 } });
  await session.write('DELETE', `${claim}/items/1`, { token: eve.token });
  expect(await amounts()).toEqual([300, 250]);
  // A repetition is harmless, and finds nothing else.
  expect((await ask('DELETE', `${claim}/items/1`, { token: eve.token })).status).toBe(204);
  for (const [method, path, body] of [
    ['GET', 'items/1'],
    ['GET', 'items/x'],
    ['GET', 'items/9'],
    ['PATCH', 'items/9', { amount: 1 }],
    ['POST', 'items/9/move', { before: null }],
    ['DELETE', 'items/9'],
    ['DELETE', 'items/x'],
  ] as const) {
    const answer = await ask(method, `${claim}/${path}`, { token: eve.token, ...(body && { body }) });
    expect([answer.status, (answer.body as { code: string }).code], `${method} ${path}`).toEqual([
      404,
      'claim_item_not_found',
    ]);
  }
});

test('items are shown at earlier times, in a list and one by one', async ({
  amounts,
  ask,
  bert,
  claim,
  eve,
  graphql,
  read,
}) => {
  const then = await read(`${claim}/items?at=v6&limit=2`);
  const [asOf, next] = [
    then.headers.get('as-of'),
    /<([^>]+)>; rel="next"/.exec(then.headers.get('link') ?? '')?.[1] ?? '',
  ];
  expect([then.body.map(({ id }) => id), await amounts(next)]).toEqual([[3, 1], [250]]);
  expect(then.body[0]?._links).toEqual({
    self: { href: `${claim}/items/3?at=${asOf}` },
    claim: { href: `${claim}?at=${asOf}` },
  });
  const removed = await read(`${claim}/items/1?at=v6`);
  expect(removed.body).toMatchObject({ id: 1, amount: 100, note: 'Taxi' });
  expect(removed.body._links).not.toHaveProperty('latest');
  const kept = await read(`${claim}/items/2?at=v4`);
  expect([kept.body, kept.headers.get('link')]).toMatchObject([
    { amount: 200, _links: { latest: { href: `${claim}/items/2` } } },
    `<${claim}/items/2>; rel="original latest-version"`,
  ]);
  expect((await read(`${claim}?at=v6`)).body._links).toMatchObject({
    items: { href: `${claim}/items?at=${asOf}` },
  });
  for (const [path, by, code] of [
    ['items/1?at=v7', eve, 'claim_item_not_found'],
    ['items/9?at=v6', eve, 'claim_item_not_found'],
    ['items?at=v6', bert, 'claim_not_found'],
    ['items?at=v99', eve, 'version_not_found'],
  ] as const) {
    const answer = await ask('GET', `${claim}/${path}`, { token: by.token });
    expect([answer.status, (answer.body as { code: string }).code], path).toEqual([404, code]);
  }
  const asked = await graphql(
    `{ claim(id: "${claim.split('/')[2]}", at: "v6") { total items { itemId amount claim { asOf } } itemsConnection(last: 1) { totalCount nodes { itemId } } } }`,
    { token: eve.token },
  );
  expect(asked.data).toEqual({
    claim: {
      total: 650,
      items: [
        ['3', 300],
        ['1', 100],
        ['2', 250],
      ].map(([itemId, amount]) => ({ itemId, amount, claim: { asOf } })),
      itemsConnection: { totalCount: 3, nodes: [{ itemId: '2' }] },
    },
  });
});

test('a write returns the new item on request', async ({ ask, draft, eve }) => {
  const id = await draft('Oslo');
  const items = `/claims/${id}/items`;
  const prefer = async (
    method: 'POST' | 'PATCH',
    path: string,
    body: object,
    wish = 'return=representation',
  ) => ask(method, path, { token: eve.token, body, headers: { prefer: wish } });
  const added = await prefer('POST', items, { amount: 7 });
  expect([
    added.status,
    added.headers.get('preference-applied'),
    added.headers.get('content-location'),
  ]).toEqual([...[201, 'return=representation', `${items}/1`]]);
  expect(added.body).toMatchObject({ id: 1, amount: 7, _links: { edit: { method: 'PATCH' } } });
  const changed = await prefer('PATCH', `${items}/1`, { amount: 8 });
  expect([changed.body, changed.headers.get('etag')]).toMatchObject([
    { id: 1, amount: 8 },
    expect.stringMatching(/^"3-/),
  ]);
  await prefer('POST', items, { amount: 9 });
  expect((await prefer('POST', `${items}/2/move`, { before: 1 })).body).toMatchObject({ id: 2, amount: 9 });
  expect((await prefer('PATCH', `${items}/1`, { amount: 7 }, 'return=minimal')).status).toBe(204);
  const label = await prefer('POST', `/claims/${id}/labels`, { word: 'cold' });
  expect(label.body).toMatchObject({ word: 'cold', colour: null });
});

test('a page continues after its cursor, whatever was removed there', async ({
  amounts,
  draft,
  eve,
  read,
  session,
}) => {
  const items = `/claims/${await draft('Bergen')}/items`;
  for (const amount of [1, 2, 3, 4])
    await session.write('POST', items, { token: eve.token, body: { amount } });
  const { headers } = await read(`${items}?limit=2`);
  const next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? '';
  // The one that the cursor names, and the one after it.
  for (const id of [2, 3]) await session.write('DELETE', `${items}/${id}`, { token: eve.token });
  expect(await amounts(next)).toEqual([4]);
});

test('a cursor belongs to one list, and a forged one is refused', async ({ ask, claim, eve, read }) => {
  const { headers } = await read(`${claim}/items?limit=1`);
  const next = /after=([^&>]+)/.exec(headers.get('link') ?? '')?.[1] ?? '';
  const [identity] = JSON.parse(Buffer.from(next, 'base64url').toString()) as [string];
  const forged = [
    ['a0', 'x'],
    ['\u0000', 1],
    ['a0', 1, 2],
  ].map((place) => Buffer.from(JSON.stringify([identity, ...place])).toString('base64url'));
  for (const path of [`labels?after=${next}`, ...forged.map((cursor) => `items?after=${cursor}`)]) {
    const answer = await ask('GET', `${claim}/${path}`, { token: eve.token });
    expect([answer.status, (answer.body as { code: string }).code], path).toEqual([400, 'unknown_cursor']);
  }
});

test('any key identifies items', async ({ ask, bert, claim, eve, read, session }) => {
  const named = await session.write('POST', `${claim}/approvers`, {
    token: eve.token,
    body: { approverId: bert.userId, upTo: 7 },
  });
  expect(named.written).toMatchObject({ approverId: bert.userId });
  const self = `${claim}/approvers/${bert.userId}`;
  expect((await read(self)).body).toMatchObject({
    approver: { id: bert.userId, name: 'Bert' },
    upTo: 7,
    _links: {
      approver: { href: `/users/${bert.userId}` },
      edit: { method: 'PATCH' },
      'dismiss-approver': { method: 'DELETE' },
    },
  });
  const again = await ask('POST', `${claim}/approvers`, {
    token: eve.token,
    body: { approverId: bert.userId },
  });
  expect([again.status, (again.body as { code: string }).code]).toEqual([409, 'claim_approver_exists']);
  for (const word of ['urgent', 'Abroad'])
    await session.write('POST', `${claim}/labels`, { token: eve.token, body: { word } });
  // Adding the same again changes nothing, wherever others are.
  const there = await session.write('POST', `${claim}/labels`, {
    token: eve.token,
    body: { word: 'urgent' },
  });
  expect([there.written, there.headers.get('location')]).toEqual([
    expect.objectContaining({ word: 'urgent' }),
    `${claim}/labels/urgent`,
  ]);
  expect((await read(`${claim}/labels`)).body).toMatchObject([{ word: 'Abroad' }, { word: 'urgent' }]);
  expect((await read(`${claim}/labels/urgent`)).body).toMatchObject({ word: 'urgent', colour: null });
  await session.write('DELETE', `${claim}/labels/urgent`, { token: eve.token });
  for (const word of ['urgent', '%00', '1', 'a%20b'])
    expect((await read(`${claim}/labels/${word}`)).status, word).toBe(404);
});

test('GraphQL adds, changes, moves and removes items like REST, with the same refusals', async ({
  bert,
  draft,
  eve,
  graphql,
}) => {
  const id = String(await draft('Rome'));
  const mutate = async (field: string) => {
    const { data, errors } = (await graphql(`mutation { done: ${field} }`, { token: eve.token })) as {
      readonly data: { readonly done: unknown } | null;
      readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
    };
    return data?.done ?? errors?.map(({ extensions }) => extensions.code);
  };
  const item = 'itemId amount note category claim { total version }';
  expect(await mutate(`addClaimItem(id: "${id}", input: { amount: 100, note: "Taxi" }) { ${item} }`)).toEqual(
    {
      ...{ itemId: '1', amount: 100, note: 'Taxi', category: 'other', claim: { total: 100, version: 2 } },
    },
  );
  await mutate(`addClaimItem(id: "${id}", input: { amount: 200, category: meals }) { itemId }`);
  const change = (args: string) => mutate(`updateClaimItem(id: "${id}", ${args}) { ${item} }`);
  expect(await change('itemId: 2, changes: { amount: 250 }, ifVersion: 3')).toMatchObject({
    amount: 250,
    claim: { total: 350, version: 4 },
  });
  expect(await change('itemId: 1, changes: { note: null }')).toMatchObject({ note: null });
  expect(
    await mutate(`moveClaimItem(id: "${id}", itemId: 2, before: 1) { claim { items { itemId } } }`),
  ).toEqual({
    claim: { items: [{ itemId: '2' }, { itemId: '1' }] },
  });
  expect(await mutate(`moveClaimItem(id: "${id}", itemId: 2) { claim { items { itemId } } }`)).toEqual({
    claim: { items: [{ itemId: '1' }, { itemId: '2' }] },
  });
  expect(await mutate(`removeClaimItem(id: "${id}", itemId: 1) { total items { itemId } }`)).toEqual({
    total: 250,
    items: [{ itemId: '2' }],
  });
  expect(
    await mutate(`addClaimLabel(id: "${id}", input: { word: "urgent" }) { word claim { labels { word } } }`),
  ).toEqual({
    word: 'urgent',
    claim: { labels: [{ word: 'urgent' }] },
  });
  expect(
    await mutate(
      `addClaimApprover(id: "${id}", input: { approver: ${bert.userId} }) { approver { name } upTo }`,
    ),
  ).toEqual({
    approver: { name: 'Bert' },
    upTo: null,
  });
  expect(
    await mutate(`removeClaimApprover(id: "${id}", approverId: ${bert.userId}) { approvers { upTo } }`),
  ).toEqual({ approvers: [] });
  expect(await change('itemId: 2, changes: { amount: 1 }, ifVersion: 1')).toEqual(['version_mismatch']);
  for (const itemId of ['1', '"x"', '9'])
    expect(await change(`itemId: ${itemId}, changes: { amount: 1 }`)).toEqual(['claim_item_not_found']);
  expect(await change('itemId: 2, changes: { amount: 0 }')).toEqual(['invalid_request']);
});

test('its history describes items', async ({ bert, claim, eve, session }) => {
  const history = await session.read<{ type: string; changes: unknown[] }[]>(`${claim}/history?limit=100`, {
    token: eve.token,
  });
  const changesOf = (name: string) =>
    history.body.filter(({ type }) => type === `claim.${name}`).map(({ changes }) => changes);
  expect(changesOf('itemChanged')).toEqual([[{ field: 'items.2.amount', from: 200, to: 250 }]]);
  expect(changesOf('itemRemoved')).toEqual([
    [
      { field: 'items.1.category', from: 'other', to: null },
      { field: 'items.1.amount', from: 100, to: null },
      { field: 'items.1.note', from: 'Taxi', to: null },
    ],
  ]);
  expect(changesOf('itemAdded').at(-1)).toContainEqual({ field: 'items.1.note', from: null, to: 'Taxi' });
  expect(changesOf('approverNamed')).toEqual([
    [{ field: `approvers.${bert.userId}.upTo`, from: null, to: 7 }],
  ]);
});
