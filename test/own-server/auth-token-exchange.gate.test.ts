// Over 200 lines, because it is one table: what an agent may present, and the answer to each.
import { decodeJwt, SignJWT } from 'jose';
import { describe, expect } from 'vitest';
import { PERSONAL_TOKEN_PREFIX } from '#edge/authenticate/personal-token.ts';
import { type ClientSettings, TOKEN_EXCHANGE } from '#shared/clients/settings.ts';
import { createAgents } from '../../auth/agents/agents.ts';
import { deactivatePerson } from '../../auth/persons/person-table.ts';
import { readSigningKeys } from '../../auth/signing-keys/signing-keys.ts';
import { CALLBACK, ISSUER, registerClient, registerPerson } from '../engines/auth-database.ts';
import { test as base } from '../engines/auth-fixture.ts';
import { system } from '../engines/command-side.ts';
import { basic, newDpopKey, post, tokensByCode } from '../engines/oauth.ts';

// Own server: it signs tokens with the key of the server.

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const AGENT = {
  name: 'Bot',
  grantTypes: [TOKEN_EXCHANGE],
  tokenEndpointAuthMethod: 'client_secret_basic',
  scopes: ['read:articles', 'publish:articles', 'manage:tokens'],
  defaultScopes: ['read:articles'],
} as const;
const SCOPE = 'openid read:articles write:articles manage:tokens';

const test = base
  .extend('agent', { scope: 'file' }, ({ auth }) => registerClient(auth, AGENT))
  .extend('app', { scope: 'file' }, ({ auth }) =>
    registerClient(auth, {
      grantTypes: ['authorization_code', 'refresh_token'],
      redirectUris: [CALLBACK],
      scopes: SCOPE.split(' '),
    }),
  )
  .extend(
    'tokenOf',
    { scope: 'file' },
    ({ auth, app }) =>
      async (someone: Parameters<typeof tokensByCode>[1]) => {
        const { access_token: token } = await tokensByCode(auth, someone, {
          client_id: app.clientId,
          scope: SCOPE,
        });
        return String(token);
      },
  )
  .extend('subject', { scope: 'file' }, ({ tokenOf, person }) => tokenOf(person))
  .extend(
    'exchange',
    { scope: 'file' },
    ({ auth, agent }) =>
      (token: string, form: Readonly<Record<string, string>> = {}, headers = basic(agent)) =>
        post(
          auth,
          '/token',
          { grant_type: TOKEN_EXCHANGE, subject_token: token, subject_token_type: ACCESS_TOKEN, ...form },
          headers,
        ),
  )
  /** The subject’s token with other claims, signed by the key of the server. */
  .extend(
    'signed',
    { scope: 'file' },
    ({ auth, database, subject }) =>
      async (claims: Readonly<Record<string, unknown>>) => {
        const [key] = await readSigningKeys({ pool: auth.pool, masterKey: database.masterKey });
        return new SignJWT({ ...decodeJwt(subject), ...claims })
          .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key?.kid } as never)
          .sign(key as never);
      },
  );

describe('an agent', () => {
  test('gets a token of the user with fewer rights, which names both', async ({
    agent,
    app,
    exchange,
    person,
    subject,
  }) => {
    const { status, body, headers } = await exchange(subject);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        access_token: expect.any(String),
        issued_token_type: ACCESS_TOKEN,
        token_type: 'Bearer',
        expires_in: expect.any(Number),
        scope: 'read:articles',
      },
    });
    expect(headers.get('cache-control')).toBe('no-store');
    const issued = decodeJwt(String(body.access_token));
    const held = decodeJwt(subject);
    expect(issued).toMatchObject({
      sub: String(person.userId),
      aud: ISSUER,
      client_id: agent.clientId,
      act: { sub: agent.clientId, act: { sub: app.clientId } },
      grant_id: held.grant_id,
      role: 'author',
      scope: 'read:articles',
    });
    expect(issued).not.toHaveProperty('auth_time');
    expect(Number(issued.exp)).toBeLessThanOrEqual(Number(held.exp));
  });

  test('is in the log with each exchange, and among those of the user, who can end it for good', async ({
    agent,
    app,
    auth,
    exchange,
    person,
    subject,
  }) => {
    const { userId } = person;
    const held = await exchange(subject);
    const issued = decodeJwt(String(held.body.access_token));
    const events: (readonly [string, unknown])[] = [];
    for await (const page of auth.eventLog.read(`grant-${issued.grant_id}` as never))
      events.push(...page.map(({ type, metadata }) => [type, metadata.client] as const));
    expect(events).toContainEqual(['token.exchanged', `${app.clientId}>${agent.clientId}`]);
    const agents = createAgents({ pool: auth.pool, record: async () => {} });
    expect(await agents.of(userId)).toMatchObject([
      { agent: agent.clientId, application: app.clientId, scopes: ['read:articles'], endedAt: null },
    ]);
    const by = { actor: `user:${userId}`, client: null, requestId: 'test' } as const;
    await agents.end(userId, agent.clientId, by);
    const { rowCount } = await auth.pool.query(`select from auth.revoked where kind = 'jti' and value = $1`, [
      issued.jti,
    ]);
    expect(rowCount).toBe(1);
    expect(await exchange(subject)).toMatchObject({
      status: 400,
      body: { error_description: expect.stringContaining('the user has ended the access of this agent') },
    });
    await agents.allow(userId, agent.clientId, by);
    expect((await exchange(subject)).status).toBe(200);
  });

  test('gets the scopes that it asks for, if it names them', async ({ exchange, subject }) => {
    const { body } = await exchange(subject, { scope: 'read:articles', resource: ISSUER, audience: ISSUER });
    expect(decodeJwt(String(body.access_token)).scope).toBe('read:articles');
  });

  test('gets no longer than the token of the user lasts', async ({ exchange, signed }) => {
    const exp = Math.floor(Date.now() / 1_000) + 30;
    const { body } = await exchange(await signed({ exp }));
    expect(decodeJwt(String(body.access_token)).exp).toBe(exp);
    expect(Number(body.expires_in)).toBeLessThanOrEqual(30);
  });

  test('is introspected as an agent, and learns nothing at /userinfo', async ({
    auth,
    exchange,
    agent,
    app,
    service,
    subject,
  }) => {
    const { body } = await exchange(subject);
    const token = String(body.access_token);
    expect((await post(auth, '/introspect', { token }, basic(service))).body).toMatchObject({
      active: true,
      act: { sub: agent.clientId, act: { sub: app.clientId } },
    });
    const answer = await auth.fetch(`${ISSUER}/userinfo`, { headers: { authorization: `Bearer ${token}` } });
    expect([401, 403]).toContain(answer.status);
    expect((await post(auth, '/revoke', { token }, basic(agent))).status).toBe(200);
    expect((await post(auth, '/introspect', { token }, basic(service))).body).toEqual({ active: false });
  });
});

describe('a token is refused', () => {
  type Signed = (claims: Readonly<Record<string, unknown>>) => Promise<string>;
  test.for<readonly [string, string, (signed: Signed) => Promise<string>]>([
    ['that is no token', 'no access token of this installation', async () => 'abc'],
    ['that is a personal access token', 'a personal access token', async () => `${PERSONAL_TOKEN_PREFIX}abc`],
    ['that has expired', 'has expired', (signed) => signed({ exp: Math.floor(Date.now() / 1_000) - 1 })],
    ['of another issuer', 'no access token', (signed) => signed({ iss: 'https://evil.example' })],
    ['for another audience', 'no access token', (signed) => signed({ aud: 'https://evil.example' })],
    ['that was changed', 'no access token', async (signed) => `${(await signed({})).slice(0, -5)}AAAAA`],
    [
      'of a client that acts for itself',
      'not the token of a user',
      (signed) => signed({ grant_id: undefined }),
    ],
    [
      'that an agent already has',
      'an agent already has it',
      (signed) => signed({ act: { sub: 'other', act: { sub: 'app' } } }),
    ],
    ['that is bound to a key', 'bound to a key', (signed) => signed({ cnf: { jkt: 'A'.repeat(43) } })],
    [
      'that is bound to a certificate',
      'bound to a certificate',
      (signed) => signed({ cnf: { 'x5t#S256': 'A'.repeat(43) } }),
    ],
  ])('%s', async ([, reason, make], { exchange, signed }) => {
    const { status, body } = await exchange(await make(signed));
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_request' });
    expect(body.error_description).toContain(reason);
  });

  test('that an agent got, presented by another', async ({ auth, exchange, subject }) => {
    const second = await registerClient(auth, AGENT);
    const { body } = await exchange(subject);
    const again = await exchange(String(body.access_token), {}, basic(second));
    expect(again.body).toMatchObject({
      error: 'invalid_request',
      error_description: 'subject_token is invalid: an agent already has it from a user',
    });
  });

  test('of the agent itself, which also signs users in', async ({ agent, exchange, signed }) => {
    const { body } = await exchange(await signed({ client_id: agent.clientId }));
    expect(body).toMatchObject({
      error: 'invalid_request',
      error_description: 'subject_token is invalid: the client has it from the user itself',
    });
  });

  test('whose grant has ended, and so is the token of the agent', async ({
    auth,
    exchange,
    person,
    service,
    tokenOf,
  }) => {
    const held = await tokenOf(person);
    const { body } = await exchange(held);
    await auth.service.endGrant(String(decodeJwt(held).grant_id));
    expect((await exchange(held)).body).toMatchObject({ error: 'invalid_request' });
    const { body: found } = await post(
      auth,
      '/introspect',
      { token: String(body.access_token) },
      basic(service),
    );
    expect(found).toEqual({ active: false });
  });

  test.for<readonly [string, (old: ClientSettings) => Partial<ClientSettings>]>([
    ['loses a scope', ({ scopes }) => ({ scopes: scopes.filter((scope) => scope !== 'write:articles') })],
    ['loses a grant type', () => ({ grantTypes: ['authorization_code'] })],
    ['must prove a key', () => ({ requireDpop: true })],
    ['authenticates in another way', () => ({ tokenEndpointAuthMethod: 'client_secret_basic' })],
  ])(
    'whose application %s, and so is the token of the agent',
    async ([, change], { auth, exchange, person, service }) => {
      const app = await registerClient(auth, {
        grantTypes: ['authorization_code', 'refresh_token'],
        redirectUris: [CALLBACK],
        scopes: SCOPE.split(' '),
      });
      const asked = { client_id: app.clientId, scope: SCOPE };
      const held = String((await tokensByCode(auth, person, asked)).access_token);
      const token = String((await exchange(held)).body.access_token);
      const isGood = async () => (await post(auth, '/introspect', { token }, basic(service))).body.active;
      expect(await isGood()).toBe(true);
      const by = { caller: system, requestId: 'test' };
      await auth.service.clients.change(app.clientId, { apply: (old) => ({ ...old, ...change(old) }) }, by);
      expect(await isGood()).toBe(false);
      expect((await exchange(held)).body).toMatchObject({ error: 'invalid_request' });
    },
  );

  test('of a user who is deactivated', async ({ auth, exchange, tokenOf }) => {
    const leaver = await registerPerson(auth);
    const held = await tokenOf(leaver);
    await deactivatePerson(auth.pool, leaver.userId);
    const { status } = await exchange(held);
    expect(status).toBe(400);
  });
});

describe('a request is refused', () => {
  test.for([
    ['for another resource', { resource: 'https://other.example' }, 'invalid_target'],
    ['for another audience', { audience: 'https://other.example' }, 'invalid_target'],
    ['for no resource at all', { resource: 'nothing' }, 'invalid_target'],
    ['for a scope that the user’s token lacks', { scope: 'publish:articles' }, 'invalid_scope'],
    ['for a scope that the agent may not have', { scope: 'write:articles' }, 'invalid_scope'],
    ['for one good scope and one more', { scope: 'read:articles write:articles' }, 'invalid_scope'],
    ['for a scope that leads to other access', { scope: 'manage:tokens' }, 'invalid_scope'],
    ['for a scope of sign-in', { scope: 'openid' }, 'invalid_scope'],
    [
      'for a refresh token',
      { requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
      'invalid_request',
    ],
    ['with an empty token', { subject_token: '' }, 'invalid_request'],
    ['with an actor of its own', { actor_token: 'abc', actor_token_type: ACCESS_TOKEN }, 'invalid_request'],
    [
      'with a token of another type',
      { subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' },
      'invalid_request',
    ],
  ] as const)('%s', async ([, form, error], { exchange, subject }) => {
    const { status, body } = await exchange(subject, form);
    expect({ status, error: body.error }).toEqual({ status: 400, error });
  });

  test('without the user’s token', async ({ agent, auth }) => {
    const { body } = await post(auth, '/token', { grant_type: TOKEN_EXCHANGE }, basic(agent));
    expect(body).toMatchObject({ error: 'invalid_request' });
  });

  test('of a client that is not registered for it, or does not authenticate', async ({
    agent,
    app,
    auth,
    exchange,
    service,
    subject,
  }) => {
    expect((await exchange(subject, {}, basic(service))).body).toMatchObject({
      error: 'unauthorized_client',
    });
    const form = { grant_type: TOKEN_EXCHANGE, subject_token: subject, subject_token_type: ACCESS_TOKEN };
    expect((await post(auth, '/token', { ...form, client_id: app.clientId })).body.error).toBe(
      'unauthorized_client',
    );
    expect((await post(auth, '/token', { ...form, client_id: agent.clientId })).status).toBe(401);
    await expect(registerClient(auth, { ...AGENT, tokenEndpointAuthMethod: 'none' })).rejects.toThrow(
      'A client with token-exchange must authenticate.',
    );
  });
});

test('an agent that proves a key gets a token bound to it, and may present one of that key', async ({
  agent,
  exchange,
  signed,
  subject,
}) => {
  const { jkt, proof } = await newDpopKey();
  const proving = async () => ({ ...basic(agent), DPoP: await proof() });
  const { body } = await exchange(subject, {}, await proving());
  expect(body.token_type).toBe('DPoP');
  expect(decodeJwt(String(body.access_token)).cnf).toEqual({ jkt });
  expect((await exchange(await signed({ cnf: { jkt } }), {}, await proving())).status).toBe(200);
  const used = await proving();
  await exchange(subject, {}, used);
  expect((await exchange(subject, {}, used)).body.error).toBe('invalid_dpop_proof');
});
