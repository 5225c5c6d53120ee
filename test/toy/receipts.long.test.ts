// Over 200 lines, because every case asks the one system that is set up here.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Person } from '../../testing/http/people.ts';
import { until } from '../../testing/until.ts';
import { PREFLIGHT } from '../engines/graphql-uploads.ts';
import { operate } from '../engines/installation.ts';
import { picture } from '../engines/pictures.ts';
import { receipts } from './receipts.ts';
import { test as base } from './toy-fixture.ts';

/**
 * What `describeDomain` does not try of uploads: refused and replaced files, earlier states, and when files
 * are deleted. The tests depend on each other.
 */
const merge = 'application/merge-patch+json';
type Linked = {
  readonly id: number;
  readonly _links: Readonly<Record<string, { readonly href: string; readonly method?: string }>>;
};
type Shown = Linked & Readonly<Record<'receipt' | 'overview' | 'scan', string | null>>;

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: receipts } })
  .extend('everybody', { scope: 'file' }, async ({ people, signUpAs }) => ({
    eve: await people.signUp('Eve'),
    clerk: await signUpAs('Clara', 'clerk'),
  }))
  /** With two items. */
  .extend('claim', { scope: 'file' }, async ({ everybody: { eve }, session }) => {
    const body = { purpose: 'Strasbourg' };
    const { written } = await session.write('POST', '/claims', { token: eve.token, body });
    for (const amount of [100, 200])
      await session.write('POST', `/claims/${written.id}/items`, { token: eve.token, body: { amount } });
    return `/claims/${written.id}`;
  })
  .extend('claims', { scope: 'file' }, ({ ask, everybody: { eve }, session }) => {
    const file = { type: 'image/png', body: picture('image/png', 2_000) };
    const read = async (path: string, { token }: Person = eve) =>
      (await session.read<Shown>(path, { token })).body;
    return {
      read,
      put: (path: string, headers = {}) => ask('PUT', path, { token: eve.token, ...file, headers }),
      give: async (path: string): Promise<string> => {
        await session.write('PUT', path, { token: eve.token, ...file });
        const of = path.slice(0, path.lastIndexOf('/'));
        return String((await read(of))[path.split('/').at(-1) as 'receipt']);
      },
    };
  })
  .extend('uploads', { scope: 'file' }, ({ installation }) => {
    const stored = () => readdir(join(installation.settings.DATA_DIR ?? '', 'uploads'));
    const gone = (path: string) => until(stored, (names) => !names.includes(path.replace('/uploads/', '')));
    return { stored, gone };
  });

test('files of absent items, for other versions, and that are not pictures are refused', async ({
  ask,
  claim,
  claims: { put },
  everybody: { eve },
  session,
  uploads: { stored },
}) => {
  const refused = async (path: string, headers = {}) => {
    const { status, body } = await put(path, headers);
    return [status, (body as { code: string }).code];
  };
  expect(await refused(`${claim}/items/9/receipt`)).toEqual([404, 'claim_item_not_found']);
  expect(await refused(`${claim}/items/x/receipt`)).toEqual([404, 'claim_item_not_found']);
  expect(await refused(`${claim}/items/1/receipt`, { 'if-match': '"1-"' })).toEqual([
    412,
    'version_mismatch',
  ]);
  const text = await ask('PUT', `${claim}/items/1/receipt`, {
    token: eve.token,
    type: 'text/plain',
    body: 'a receipt',
  });
  expect(text.status).toBe(415);
  const before = await stored();
  const sent = {
    token: eve.token,
    type: 'image/png',
    body: picture('image/png', 500),
    headers: { 'idempotency-key': 'one-receipt' },
  };
  const first = await ask('PUT', `${claim}/items/2/receipt`, sent);
  expect(await ask('PUT', `${claim}/items/2/receipt`, sent)).toMatchObject({
    status: 200,
    body: first.body as object,
  });
  expect(await stored()).toHaveLength(before.length + 1);
  await session.write('DELETE', `${claim}/items/2/receipt`, { token: eve.token });
});

test('an upload belongs to one field of one item, and never comes back', async ({
  ask,
  claim,
  claims: { give },
  everybody: { eve },
  session,
  uploads: { gone },
}) => {
  const first = await give(`${claim}/items/1/receipt`);
  const overview = await give(`${claim}/overview`);
  const named = async (path: string, body: object) => {
    const { status, body: problem } = await ask('PATCH', path, { token: eve.token, type: merge, body });
    return [status, (problem as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer)];
  };
  expect(await named(`${claim}/items/2`, { receipt: overview })).toEqual([422, ['/receipt']]);
  expect(await named(claim, { overview: first })).toEqual([422, ['/overview']]);
  expect(await named(`${claim}/items/2`, { receipt: 'https://example.com/a.png' })).toEqual([
    422,
    ['/receipt'],
  ]);
  await session.write('PATCH', `${claim}/items/2`, {
    token: eve.token,
    type: merge,
    body: { photo: 'https://example.com/a.png' },
  });
  await give(`${claim}/items/1/receipt`);
  await gone(first);
  expect(await named(`${claim}/items/1`, { receipt: first })).toEqual([422, ['/receipt']]);
  expect(await named(`${claim}/items/2`, { receipt: first })).toEqual([422, ['/receipt']]);
});

test('earlier states name the file; a lost file is absent', async ({
  claim,
  claims: { read },
  everybody: { eve },
  session,
  uploads: { gone },
}) => {
  const { version } = (
    await session.write('PUT', `${claim}/items/2/receipt`, {
      token: eve.token,
      type: 'image/png',
      body: picture('image/png'),
    })
  ).written;
  const { receipt } = await read(`${claim}/items/2`);
  await session.write('DELETE', `${claim}/items/2/receipt`, { token: eve.token });
  await gone(String(receipt));
  expect((await read(`${claim}/items/2`)).receipt).toBeNull();
  expect((await read(`${claim}/items/2?at=v${version}`)).receipt).toBe(receipt);
  const { body } = await session.read<readonly { readonly changes: readonly { readonly field: string }[] }[]>(
    `${claim}/history?limit=100`,
    {
      token: eve.token,
    },
  );
  expect(body.flatMap(({ changes }) => changes.map(({ field }) => field))).toContain('items.2.receipt');
});

test('a file that an action removes, and one of a removed item, are deleted', async ({
  claim,
  claims: { read, give },
  everybody: { eve },
  session,
  uploads: { gone },
}) => {
  const { overview } = await read(claim);
  await session.write('POST', `${claim}/clear`, { token: eve.token });
  await gone(String(overview));
  const receipt = await give(`${claim}/items/2/receipt`);
  await session.write('DELETE', `${claim}/items/2`, { token: eve.token });
  await gone(receipt);
});

test('GraphQL uploads files to items, and shows them', async ({
  ask,
  everybody: { eve },
  graphql,
  installation,
  session,
  uploads: { gone },
}) => {
  const { written } = await session.write('POST', '/claims', { token: eve.token, body: { purpose: 'Lyon' } });
  await session.write('POST', `/claims/${written.id}/items`, { token: eve.token, body: { amount: 7 } });
  const query =
    'mutation ($id: ID!, $file: Upload!) { setClaimItemReceipt(id: $id, itemId: 1, file: $file) { amount receipt receiptAddress { href } claim { purpose } } }';
  const form = new FormData();
  form.append('operations', JSON.stringify({ query, variables: { id: String(written.id), file: null } }));
  form.append('map', '{"0":["variables.file"]}');
  form.append('0', new File([picture('image/png') as never], 'a.png', { type: 'image/png' }));
  const headers = { ...PREFLIGHT, authorization: `Bearer ${eve.token}` };
  const answer = await installation.fetch(`${installation.url}/graphql`, {
    method: 'POST',
    headers,
    body: form,
  });
  const { data } = (await answer.json()) as {
    data: { setClaimItemReceipt: { receipt: string; receiptAddress: { href: string } } };
  };
  expect(data.setClaimItemReceipt).toMatchObject({
    amount: 7,
    receipt: expect.stringMatching(/^\/uploads\//),
    claim: { purpose: 'Lyon' },
  });
  expect((await ask('GET', data.setClaimItemReceipt.receiptAddress.href)).status).toBe(200);
  const removed = await graphql(
    `mutation { removeClaimItemReceipt(id: ${written.id}, itemId: 1) { receipt receiptAddress { href } } }`,
    {
      token: eve.token,
    },
  );
  expect(removed.data).toEqual({ removeClaimItemReceipt: { receipt: null, receiptAddress: null } });
  await gone(data.setClaimItemReceipt.receipt);
});

test('GraphQL refuses a day that there is not', async ({ everybody: { eve }, graphql }) => {
  const wrong = '{ claims(filter: { dueOn: "2026-02-30" }) { id } }';
  const { errors } = await graphql(wrong, { token: eve.token });
  expect(errors?.[0]?.message).toContain('A Date is a day');
});

test('a submitted claim accepts no file, and the files of a person are removed with what they own', async ({
  claim,
  claims: { read, put },
  everybody: { eve, clerk },
  installation,
  people,
  session,
  uploads: { stored, gone },
}) => {
  await session.write('POST', `${claim}/submit`, { token: eve.token });
  expect((await put(`${claim}/items/1/receipt`)).body).toMatchObject({ code: 'claim_not_draft' });
  const note = { text: 'Seen', internal: true };
  await session.write('POST', `${claim}/notes`, { token: clerk.token, body: note });
  await session.write('PUT', `${claim}/notes/1/scan`, {
    token: clerk.token,
    type: 'image/png',
    body: picture('image/png'),
  });
  const { receipt } = await read(`${claim}/items/1`);
  const { scan } = await read(`${claim}/notes/1`, clerk);
  await session.write('DELETE', `/users/${eve.userId}`, { token: people.administrator.token });
  for (const each of [receipt, scan]) await gone(String(each));
  expect((await stored()).filter((name) => name !== 'incoming')).toEqual([]);
  expect(await operate(['audit', 'verify'], installation.settings, receipts)).toContain('Proven');
});
