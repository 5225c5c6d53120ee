// Over 200 lines, because each write of the authorization server is tried in the installation that is set up here.
import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import type { Pool } from '#shared/database/pool.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { registerClient, registerPerson, webClient } from '../test/engines/auth-database.ts';
import { test as base } from '../test/engines/auth-process.ts';
import { tokensByCode } from '../test/engines/oauth.ts';

type Sent = { readonly body?: object; readonly headers?: Readonly<Record<string, string>> };
type Case = Sent & { readonly path: string; readonly other: Sent };
type Made = Readonly<Record<string, unknown>>;

const SCOPES = ['manage:accounts', 'manage:tokens', 'manage:clients', 'read:articles', 'write:users'];
const SERVICE = {
  name: 'Importer',
  grantTypes: ['client_credentials'],
  tokenEndpointAuthMethod: 'client_secret_basic',
};
/** Another request with the same key: it demands another version. */
const OTHER: Sent = { headers: { 'If-Match': '"9-"' } };

const WRITES = Object.entries(operationsOf(publishing)).filter(
  ([, { role, method, answer }]) => role === 'auth' && method !== 'GET' && answer.kind !== 'sent',
);

const test = base
  .extend('admin', { scope: 'file' }, async ({ one }) => {
    const scopes = ['openid', ...SCOPES];
    const { clientId } = await registerClient(one.auth, { ...webClient, scopes, firstParty: true });
    const client = { client_id: clientId, scope: SCOPES.join(' ') };
    return String(
      (await tokensByCode(one.auth, await registerPerson(one.auth, 'admin'), client)).access_token,
    );
  })
  .extend(
    'ask',
    { scope: 'file' },
    ({ admin, one }) =>
      async (method: string, path: string, { body, headers }: Sent = {}, at = one) => {
        const response = await fetch(`${at.url}${path}`, {
          method,
          headers: {
            Authorization: `Bearer ${admin}`,
            ...(body && { 'Content-Type': 'application/json' }),
            ...headers,
          },
          ...(body && { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        const { location, etag } = Object.fromEntries(response.headers);
        return { status: response.status, location, etag, body: (text && JSON.parse(text)) as Made };
      },
  )
  .extend('made', { scope: 'file' }, ({ ask, one }) => ({
    client: async () => String((await ask('POST', '/clients', { body: SERVICE })).body.clientId),
    token: async () => String((await ask('POST', '/account/tokens', { body: newToken() })).body.id),
    person: async () => `/account/people/${(await registerPerson(one.auth)).userId}`,
    invitation: async () => {
      await ask('POST', '/account/invitations', { body: newInvitation() });
      const { body } = await ask('GET', '/account/invitations');
      return String((body as unknown as readonly { id: string }[])[0]?.id);
    },
  }));

const newToken = () => ({
  name: 'Nightly import',
  scopes: ['read:articles'],
  expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
});
const newInvitation = () => ({ email: `${randomUUID()}@example.org`, role: 'reader' });

type Makers = {
  readonly client: () => Promise<string>;
  readonly token: () => Promise<string>;
  readonly person: () => Promise<string>;
  readonly invitation: () => Promise<string>;
};

/** How to try each write, by the id of its operation. */
const CASES: Readonly<Record<string, (made: Makers) => Promise<Case>>> = {
  createClient: async () => ({
    path: '/clients',
    body: SERVICE,
    other: { body: { ...SERVICE, name: 'Other' } },
  }),
  replaceClient: async ({ client }) => ({
    path: `/clients/${await client()}`,
    body: { ...SERVICE, name: 'Replaced' },
    other: { body: { ...SERVICE, name: 'Other' } },
  }),
  editClient: async ({ client }) => ({
    path: `/clients/${await client()}`,
    body: { name: 'Edited' },
    headers: { 'If-Match': '"1-"' },
    other: { body: { name: 'Edited' }, headers: { 'If-Match': '"2-"' } },
  }),
  deleteClient: async ({ client }) => ({ path: `/clients/${await client()}`, other: OTHER }),
  rotateClientSecret: async ({ client }) => ({ path: `/clients/${await client()}/secret`, other: OTHER }),
  createPersonalToken: async () => ({
    path: '/account/tokens',
    body: newToken(),
    other: { body: { ...newToken(), name: 'Other' } },
  }),
  revokePersonalToken: async ({ token }) => ({ path: `/account/tokens/${await token()}`, other: OTHER }),
  deactivateAccount: async ({ person }) => ({ path: `${await person()}/deactivate`, other: OTHER }),
  reactivateAccount: async ({ person }) => ({ path: `${await person()}/reactivate`, other: OTHER }),
  endAccess: async ({ person }) => ({ path: `${await person()}/access`, other: OTHER }),
  endSessions: async ({ person }) => ({ path: `${await person()}/sessions`, other: OTHER }),
  endSession: async ({ person }) => ({ path: `${await person()}/sessions/any`, other: OTHER }),
  endApplication: async ({ person }) => ({ path: `${await person()}/applications/any-client`, other: OTHER }),
  unlinkIdentity: async ({ person }) => ({ path: `${await person()}/identities/any`, other: OTHER }),
  endTokenOfUser: async ({ person }) => ({ path: `${await person()}/tokens/any`, other: OTHER }),
  invite: async () => ({
    path: '/account/invitations',
    body: newInvitation(),
    other: { body: newInvitation() },
  }),
  revokeInvitation: async ({ invitation }) => ({
    path: `/account/invitations/${await invitation()}`,
    other: OTHER,
  }),
};

const eventsOf = async ({ one }: { readonly one: { readonly auth: { readonly pool: Pool } } }) => {
  const { rows } = await one.auth.pool.query<{ count: number }>('select count(*) from event_log.event');
  return Number(rows[0]?.count);
};

test('there is a case for every write', () => {
  expect(Object.keys(CASES).toSorted()).toEqual(WRITES.map(([id]) => id).toSorted());
});

describe.each(WRITES)('%s', (id, { method }: RestOperation) => {
  test('runs once per key, in every process, and another request with the key is refused', async ({
    ask,
    made,
    one,
    other: otherProcess,
  }) => {
    const wanted = await CASES[id]?.(made);
    if (wanted === undefined) throw new Error(`there is no case for ${id}`);
    const { path, body, headers, other } = wanted;
    const key = { 'Idempotency-Key': randomUUID() };
    const sent = { ...(body && { body }), headers: { ...headers, ...key } };
    const first = await ask(method, path, sent);
    expect(first.status).toBeLessThan(300);
    const before = await eventsOf({ one });
    expect(await ask(method, path, sent)).toEqual(first);
    expect(await ask(method, path, sent, otherProcess)).toEqual(first);
    expect(await eventsOf({ one })).toBe(before);
    const changed = { ...(body && { body }), ...other, headers: { ...other.headers, ...key } };
    expect(await ask(method, path, changed)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
    const malformed = { ...sent, headers: { ...sent.headers, 'Idempotency-Key': 'two words' } };
    expect(await ask(method, path, malformed)).toMatchObject({
      status: 400,
      body: { code: 'malformed_request', detail: expect.stringContaining('Idempotency-Key') },
    });
  });
});

test('what is stored for a repetition contains no secret in plain text', async ({ ask, one }) => {
  const headers = { 'Idempotency-Key': randomUUID() };
  const client = await ask('POST', '/clients', { body: SERVICE, headers });
  const token = await ask('POST', '/account/tokens', {
    body: newToken(),
    headers: { 'Idempotency-Key': randomUUID() },
  });
  const { rows } = await one.auth.pool.query<{ row: string; sealed: Buffer }>(
    `select to_jsonb(k)::text as row, sealed from auth.keyed_write k where sealed is not null`,
  );
  expect(rows.length).toBeGreaterThan(1);
  for (const { row, sealed } of rows) {
    for (const secret of [client.body.secret, token.body.token, headers['Idempotency-Key']]) {
      expect(String(secret).length).toBeGreaterThan(20);
      expect(row).not.toContain(String(secret));
      expect(sealed.toString('latin1')).not.toContain(String(secret));
    }
  }
});

test('how much has ended is answered to a repetition, wherever the first request was killed', async ({
  ask,
  one: { auth },
}) => {
  const person = await registerPerson(auth);
  const scopes = ['openid', 'read:articles'];
  const { clientId } = await registerClient(auth, { ...webClient, scopes, firstParty: true });
  await tokensByCode(auth, person, { client_id: clientId, scope: 'read:articles' });
  const headers = { 'Idempotency-Key': randomUUID() };
  const end = () => ask('DELETE', `/account/people/${person.userId}/access`, { headers });
  // As if the process were killed before it has stored the response.
  await auth.pool.query(
    `create function auth.refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
     create trigger refuse before update on auth.keyed_write for each row execute function auth.refuse()`,
  );
  expect((await end()).status).toBe(500);
  await auth.pool.query('drop function auth.refuse() cascade');
  expect(await end()).toMatchObject({ status: 200, body: { applications: 1 } });
});

test('a refused request leaves its key free for a corrected one', async ({ ask }) => {
  const headers = { 'Idempotency-Key': randomUUID() };
  const taken = `taken-${randomUUID().slice(0, 8)}`;
  await ask('POST', '/clients', { body: { ...SERVICE, clientId: taken } });
  expect(await ask('POST', '/clients', { body: { ...SERVICE, clientId: taken }, headers })).toMatchObject({
    status: 409,
    body: { code: 'client_id_taken' },
  });
  expect(await ask('POST', '/clients', { body: SERVICE, headers })).toMatchObject({ status: 201 });
});

test('while the first request runs, its key is in use; after a crash, a repetition runs it', async ({
  ask,
  one,
}) => {
  const headers = { 'Idempotency-Key': randomUUID() };
  const first = await ask('POST', '/clients', { body: SERVICE, headers });
  // As a process leaves it that is killed before its transaction commits.
  const crashed = await one.auth.pool.query(
    `update auth.keyed_write set sealed = null
     where digest = (select digest from auth.keyed_write order by started_at desc limit 1)`,
  );
  expect(crashed.rowCount).toBe(1);
  expect(await ask('POST', '/clients', { body: SERVICE, headers })).toMatchObject({
    status: 409,
    body: { code: 'idempotency_key_in_use' },
  });
  await one.auth.pool.query(
    `update auth.keyed_write set started_at = now() - interval '11 seconds' where sealed is null`,
  );
  const again = await ask('POST', '/clients', { body: SERVICE, headers });
  expect(again.status).toBe(201);
  expect(again.body.clientId).not.toBe(first.body.clientId);
  expect(await ask('POST', '/clients', { body: SERVICE, headers })).toEqual(again);
});
