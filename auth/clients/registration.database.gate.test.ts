import { describe, expect } from 'vitest';
import { test as base } from '../../test/engines/client-api.ts';

const test = base.extend(
  'register',
  ({ send }) =>
    (body: unknown = { redirect_uris: ['https://many.example/'] }) =>
      send('POST', '/register', { body, claims: null }),
);

describe('POST /register', () => {
  const metadata = {
    client_name: 'Agent',
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
  };
  test('anybody gets a public client that asks its users', async ({ eventsOf, register, api }) => {
    const { status, body, headers } = await register({
      ...metadata,
      scope: 'openid offline_access write:articles',
      logo_uri: 'https://x.example/',
    });
    expect(status).toBe(201);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({
      client_name: 'Agent',
      redirect_uris: metadata.redirect_uris,
      grant_types: metadata.grant_types,
      token_endpoint_auth_method: 'none',
      scope: 'openid offline_access write:articles',
      client_id_issued_at: expect.any(Number),
    });
    expect(body).not.toHaveProperty('client_secret');
    const client = await api.clients.find(String(body.client_id));
    expect(client).toMatchObject({ selfRegistered: true, firstParty: false });
    expect(await eventsOf(String(body.client_id))).toMatchObject([
      { data: { selfRegistered: true }, actor: 'anonymous' },
    ]);
  });

  test('refuses scopes that users may not grant', async ({ register, api }) => {
    const asked = 'read:articles manage:clients manage:webhooks write:users';
    const wanted = {
      ...metadata,
      scope: asked,
      grant_types: ['authorization_code', 'client_credentials'],
      token_endpoint_auth_method: 'client_secret_basic',
      first_party: true,
      firstParty: true,
      client_id: 'admin',
    };
    const { body } = await register(wanted);
    expect(body).toMatchObject({
      scope: 'read:articles',
      grant_types: ['authorization_code'],
      token_endpoint_auth_method: 'none',
    });
    expect(body.client_id).not.toBe('admin');
    expect(await api.clients.find(String(body.client_id))).toMatchObject({ firstParty: false });
  });

  test.for<[string, unknown, string]>([
    ['without anywhere to go', { ...metadata, redirect_uris: [] }, 'invalid_redirect_uri'],
    [
      'with an unsafe redirect',
      { ...metadata, redirect_uris: ['http://app.example/'] },
      'invalid_redirect_uri',
    ],
    ['with a wildcard', { ...metadata, redirect_uris: ['https://app.example/*'] }, 'invalid_redirect_uri'],
    ['with a script', { ...metadata, redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['of a service', { ...metadata, grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    ['of the implicit flow', { ...metadata, response_types: ['token'] }, 'invalid_client_metadata'],
    ['that is no object', [], 'invalid_client_metadata'],
  ])('a registration %s is refused', async ([_, body, error], { register }) => {
    expect(await register(body)).toMatchObject({ status: 400, body: { error } });
  });

  test('a malformed body is refused', async ({ api }) => {
    const response = await fetch(`${api.server.url}/register`, {
      method: 'POST',
      body: '{',
      headers: { 'Content-Type': 'application/json' },
    });
    expect(response.status).toBe(400);
  });
});

test('over the limit, the oldest unused clients are removed, however young; without any, the registration is refused', async ({
  eventsOf,
  register,
  api,
}) => {
  const { pool } = api.side;
  const first = await register();
  await pool.query(
    `insert into auth.client select (json_populate_record(old, json_build_object('client_id', 'filler-' || number))).*
     from auth.client as old, generate_series(1, 10000) as number where client_id = $1`,
    [first.body.client_id],
  );
  await pool.query(
    `insert into auth.record (kind, id_hash, sealed, client_id) select 'Grant', sha256(client_id::bytea), '', client_id from auth.client`,
  );
  expect(await register()).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } });
  await pool.query(`delete from auth.record where client_id like 'filler-%' and client_id <> 'filler-7'`);
  await pool.query(
    `update auth.client set created_at = now() - interval '1 minute' where client_id = any ($1)`,
    [['filler-7', 'filler-8']],
  );
  await pool.query(`insert into auth.client_use (client_id, used_at) values ('filler-8', now())`);
  expect(await register()).toMatchObject({ status: 201 });
  // Users have allowed these something.
  expect(await api.clients.find(String(first.body.client_id))).toBeDefined();
  const fillers = await pool.query(`select client_id from auth.client where client_id = any ($1)`, [
    ['filler-7', 'filler-8'],
  ]);
  expect(fillers.rows).toEqual([{ client_id: 'filler-7' }]);
  expect((await api.clients.usesOf(['filler-8'])).size).toBe(0);
  expect(await eventsOf('filler-8')).toMatchObject([{ type: 'client.deleted' }]);
  const { rows } = await pool.query('select count(*) from auth.client where self_registered');
  expect(rows[0].count).toBeLessThan(10_000);
});

test('one address can register a limited number, and learns when to continue', async ({ register }) => {
  const answers = [];
  for (let each = 0; each < 11; each += 1) answers.push(await register());
  const refused = answers.at(-1);
  expect(refused).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } });
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
});
