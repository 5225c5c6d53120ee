import { decodeJwt } from 'jose';
import { expect } from 'vitest';
import { type AuthInstance, CALLBACK, ISSUER, registerClient } from '../engines/auth-database.ts';
import { test as base } from '../engines/auth-fixture.ts';
import { DEVICE_GRANT, enterUserCode, post, startDevice, tokensByCode } from '../engines/oauth.ts';

// Own server: anybody may register a client of it.

const SCOPES = 'openid offline_access read:articles';

const test = base
  .extend('auth', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const auth = await database.open({ settings: { REGISTRATION: 'on' } });
    onCleanup(() => auth[Symbol.asyncDispose]());
    return auth;
  })
  .extend(
    'selfRegistered',
    ({ auth }) =>
      () =>
        registerItself(auth),
  )
  /** Whether the tokens of a client say that it is an agent: the first, and one that is refreshed. */
  .extend('agentsIn', { scope: 'file' }, ({ auth, person }) => async (clientId: string) => {
    const asked = { client_id: clientId, scope: SCOPES, prompt: 'consent' };
    const first = await tokensByCode(auth, person, asked);
    const form = {
      ...{ grant_type: 'refresh_token', client_id: clientId },
      refresh_token: String(first.refresh_token),
    };
    const { body: refreshed } = await post(auth, '/token', form);
    return [first, refreshed].map(({ access_token: token }) => decodeJwt(String(token)).agent);
  });

const registerItself = async (auth: AuthInstance): Promise<string> => {
  const response = await auth.fetch(`${ISSUER}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ client_name: 'Helper', redirect_uris: [CALLBACK], scope: SCOPES },
      grant_types: ['authorization_code', 'refresh_token'],
    }),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { client_id: string }).client_id;
};

/** By an administrator. */
const vouchFor = (auth: AuthInstance, clientId: string, firstParty: boolean) =>
  auth.service.clients.change(
    clientId,
    { apply: (settings) => ({ ...settings, firstParty }) },
    { caller: { kind: 'system', name: 'command-line' }, requestId: 'r-1' },
  );

test('a client that has registered itself is an agent, until an administrator vouches for it', async ({
  agentsIn,
  auth,
  selfRegistered,
}) => {
  const clientId = await selfRegistered();
  expect(await agentsIn(clientId)).toEqual([true, true]);
  await vouchFor(auth, clientId, true);
  expect(await agentsIn(clientId)).toEqual([undefined, undefined]);
  await vouchFor(auth, clientId, false);
  expect(await agentsIn(clientId)).toEqual([true, true]);
});

test.for([true, false])(
  'a client of an administrator is none, first-party or not (%s)',
  async (firstParty, { agentsIn, auth }) => {
    const { clientId } = await registerClient(auth, {
      ...{ grantTypes: ['authorization_code', 'refresh_token'], redirectUris: [CALLBACK], firstParty },
      ...{ scopes: SCOPES.split(' '), defaultScopes: ['read:articles'] },
    });
    expect(await agentsIn(clientId)).toEqual([undefined, undefined]);
  },
);

test('nor is a device of a person', async ({ auth, person }) => {
  const { clientId } = await registerClient(auth, {
    ...{ grantTypes: [DEVICE_GRANT], scopes: ['read:articles'], defaultScopes: ['read:articles'] },
  });
  const { device_code: code, user_code: userCode } = await startDevice(auth, clientId);
  await enterUserCode(auth, person, userCode);
  const { body } = await post(auth, '/token', {
    ...{ grant_type: DEVICE_GRANT, client_id: clientId, device_code: code },
  });
  expect(decodeJwt(String(body.access_token))).not.toHaveProperty('agent');
});
