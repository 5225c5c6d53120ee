import { join } from 'node:path';
import { expect } from 'vitest';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { operate } from '../engines/installation.ts';
import { records } from './records.ts';
import { test as base } from './toy-fixture.ts';

/** Holds by every interface. */
const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: records } })
  .extend('clerk', { scope: 'file' }, ({ signUpAs }) => signUpAs('Clerk', 'clerk'))
  .extend('counsel', { scope: 'file' }, ({ signUpAs }) => signUpAs('Counsel', 'counsel'))
  .extend('second', { scope: 'file' }, ({ signUpAs }) => signUpAs('Second', 'counsel'))
  .extend('record', { scope: 'file' }, ({ session, clerk: { token } }) => {
    const create = async (path: string, body: object) =>
      (await session.write('POST', path, { token, body })).written.id;
    return async () =>
      create(`/folders/${await create('/folders', { title: 'Case' })}/records`, { text: 'Dear' });
  });

test('over REST: place, see, list, refuse, release', async ({
  record,
  ask,
  session,
  clerk,
  counsel,
  second,
  people: { administrator },
}) => {
  const id = await record();
  const body = { reason: 'Litigation' };
  const { headers } = await session.write('POST', `/records/${id}/holds`, { token: counsel.token, body });
  expect(headers.get('location')).toBe(`/records/${id}/holds/1`);
  const seen = await session.read<{ readonly folderId: number }>(`/records/${id}`, { token: counsel.token });
  expect(seen.body).toMatchObject({ held: true });
  expect(seen.body).not.toHaveProperty('_links.delete');
  const holds = await session.read<object>(`/records/${id}/holds`, { token: counsel.token });
  expect(holds.body).toMatchObject([{ id: 1, reason: 'Litigation', placedBy: { id: counsel.userId } }]);
  const ofClerk = await session.read<object>(`/records/${id}`, { token: clerk.token });
  expect(ofClerk.body).toMatchObject({ held: true });
  expect((await session.read(`/records/${id}/holds`, { token: clerk.token })).body).toEqual([]);
  const listed = await session.read<object>(`/folders/${seen.body.folderId}/records?held=true`, {
    token: clerk.token,
  });
  expect(listed.body).toMatchObject([{ id }]);
  expect(JSON.stringify([ofClerk.body, listed.body])).not.toContain('Litigation');

  const remove = ({ token }: { readonly token: string }) => ask('DELETE', `/records/${id}`, { token });
  const [refused, toClerk] = [await remove(counsel), await remove(clerk)];
  expect([refused, toClerk]).toMatchObject(
    Array.from({ length: 2 }, () => ({ status: 409, body: { code: 'record_held' } })),
  );
  // Reads of records are logged, and a refusal is no read.
  expect(JSON.stringify(refused.body)).not.toContain('Litigation');
  expect(JSON.stringify(toClerk.body)).not.toContain('Litigation');

  const release = ({ token }: { readonly token: string }, given = {}) =>
    ask('DELETE', `/records/${id}/holds/1`, { token, headers: given });
  expect(await release(second)).toMatchObject({ status: 422, body: { code: 'reason_required' } });
  const settled = { Reason: 'Settled' };
  expect(await release(counsel, settled)).toMatchObject({ status: 409, body: { code: 'record_own_hold' } });
  expect(await release(clerk, settled)).toMatchObject({ status: 403 });
  // A service account, which has the right, and has not signed in.
  expect(await release(administrator, settled)).toMatchObject({
    status: 403,
    body: { code: 'person_releases' },
  });
  expect((await release(second, settled)).status).toBeLessThan(300);
  expect((await remove(clerk)).status).toBeLessThan(300);
});

test('a hold and its release need a reason of more than blanks and punctuation', async ({
  record,
  ask,
  counsel,
  second,
}) => {
  const id = await record();
  const place = (reason: string) =>
    ask('POST', `/records/${id}/holds`, { token: counsel.token, body: { reason } });
  const release = (reason: string) =>
    ask('DELETE', `/records/${id}/holds/1`, { token: second.token, headers: { reason } });
  const blanks = ['', '   ', '\u200b', '…', '\u3164'];
  for (const reason of blanks)
    expect([reason, await place(reason)]).toMatchObject([
      reason,
      { status: 422, body: { code: 'invalid_request', errors: [{ pointer: '/reason' }] } },
    ]);
  expect(await place('Litigation')).toMatchObject({ status: 201 });
  for (const reason of blanks)
    expect([reason, await release(encodeURIComponent(reason))]).toMatchObject([reason, { status: 422 }]);
  expect(await ask('DELETE', `/records/${id}`, { token: second.token })).toMatchObject({
    status: 409,
    body: { code: 'record_held' },
  });
  expect((await release('Settled')).status).toBeLessThan(300);
});

test('over GraphQL', async ({ record, installation, counsel, second }) => {
  const id = await record();
  const graphql = graphqlClientOf(installation);
  const placed = await graphql(
    `mutation { addRecordHold(id: "${id}", input: { reason: "Audit" }) { holdId reason record { held } } }`,
    { token: counsel.token },
  );
  expect([placed.errors, placed.data]).toEqual([
    undefined,
    { addRecordHold: { holdId: '1', reason: 'Audit', record: { held: true } } },
  ]);
  const released = await graphql(
    `mutation { removeRecordHold(id: "${id}", holdId: "1", reason: "Done") { held } }`,
    { token: second.token },
  );
  expect([released.errors, released.data]).toEqual([undefined, { removeRecordHold: { held: false } }]);
});

test('administrators list the holds of all kinds, and the read model equals the log', async ({
  record,
  installation,
  people: { administrator },
  session,
  clerk,
  counsel,
}) => {
  const id = await record();
  const { token } = counsel;
  await session.write('POST', `/records/${id}/holds`, { token, body: { reason: 'First' } });
  const contract = await session.write('POST', '/contracts', { token: clerk.token, body: { title: 'Rent' } });
  const contractId = contract.written.id;
  await session.write('POST', `/contracts/${contractId}/terminate`, { token: clerk.token });
  await session.write('POST', `/contracts/${contractId}/holds`, { token, body: { reason: 'Second' } });
  const path = '/operations/holds';
  const listed = await session.read<readonly object[]>(path, { token: administrator.token });
  expect(listed.body).toMatchObject([
    { stream: `contract-${contractId}`, hold: 1, reason: 'Second', placedBy: counsel.userId },
    { stream: `record-${id}`, reason: 'First', _links: { item: { href: `/records/${id}` } } },
  ]);
  const page = await session.read<object>(`${path}?limit=1`, { token: administrator.token });
  const [, next = ''] = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '') ?? [];
  const second = await session.read<object>(next, { token: administrator.token });
  expect(second.body).toMatchObject([{ reason: 'First' }]);
  expect((await session.read(path, { token })).status).toBe(403);
  const readers = await session.read<readonly object[]>(`/records/${id}/readers`, {
    token: administrator.token,
  });
  expect(readers.body[0]).toMatchObject({ operation: 'listHolds', fields: ['holds'] });

  const annals = (...args: readonly string[]) => operate(args, installation.settings, records);
  expect(await annals('holds')).toContain(`contract-${contractId}  hold 1 by user ${counsel.userId}: Second`);
  expect(
    await until(
      () => annals('retention', 'plan'),
      (plan) => plan.includes('under a hold'),
    ),
  ).toContain('contract: 0 end within 30 days, 1 are under a hold.');
  expect(await annals('audit', 'verify')).toContain('Proven');
  await annals('projection', 'rebuild');
  expect(await annals('audit', 'verify')).toContain('Proven');
  expect((await session.read(path, { token: administrator.token })).body).toMatchObject(listed.body);
});

test('the command line archives the log, and checks the archive without it', async ({ installation }) => {
  const place = await temporaryDataDir();
  const annals = (...args: readonly string[]) => operate(args, installation.settings, records);
  await annals('log', 'archive', join(place.path, 'a'), '--before', '1');
  const added = await annals('log', 'archive', join(place.path, 'a'), '--before', '3');
  expect(added).toContain('Segment 2 has 2 events up to position 3. Nothing was removed from the log.');
  const checked = await annals('audit', 'archive', join(place.path, 'a'));
  expect(checked).toContain('Proven: 3 events up to position 3, in 2 segments');
  await place[Symbol.asyncDispose]();
});
