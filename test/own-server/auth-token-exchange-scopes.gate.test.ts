import { describe, expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { TOKEN_EXCHANGE } from '#shared/clients/settings.ts';
import { policyOf } from '#shared/policy.ts';
import { CALLBACK, registerClient, registerPerson } from '../engines/auth-database.ts';
import { test as base } from '../engines/auth-fixture.ts';
import { basic, post, tokensByCode } from '../engines/oauth.ts';

// Own server: it registers agents and an administrator in the database.

const { rights, scopes } = policyOf(publishing);

/** With one of these, access can be made that outlasts the token. */
const LEADING = [...rights.values()].filter(
  ({ operation }) =>
    operation.endsWith('.manage') || (operation.startsWith('user.') && !operation.startsWith('user.read')),
);
const OWN = [...rights.values()].filter(
  ({ kind, operation }) => kind !== undefined && !/^(user|webhook)\./.test(operation),
);

const test = base
  .extend('administrator', { scope: 'file' }, ({ auth }) => registerPerson(auth, 'admin'))
  .extend('agent', { scope: 'file' }, ({ auth }) =>
    registerClient(auth, {
      name: 'Bot',
      grantTypes: [TOKEN_EXCHANGE],
      tokenEndpointAuthMethod: 'client_secret_basic',
      scopes,
    }),
  )
  .extend('subject', { scope: 'file' }, async ({ administrator, auth }) => {
    const { clientId } = await registerClient(auth, {
      grantTypes: ['authorization_code'],
      redirectUris: [CALLBACK],
      scopes,
    });
    const asked = { client_id: clientId, scope: scopes.join(' ') };
    return String((await tokensByCode(auth, administrator, asked)).access_token);
  })
  .extend('exchange', { scope: 'file' }, ({ agent, auth, subject }) => async (scope?: string) => {
    const form = {
      grant_type: TOKEN_EXCHANGE,
      subject_token: subject,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      ...(scope !== undefined && { scope }),
    };
    return post(auth, '/token', form, basic(agent));
  });

describe('an agent of an administrator, with every scope there is', () => {
  test.for(LEADING.map(({ operation, scope }) => [operation, scope] as const))(
    'cannot %s',
    async ([, scope], { exchange }) => {
      const { status, body } = await exchange(scope);
      expect({ status, body }).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
    },
  );

  test.for(OWN.map(({ operation, scope }) => [operation, scope] as const))(
    'can %s',
    async ([, scope], { exchange }) => {
      expect(await exchange(scope)).toMatchObject({ status: 200, body: { scope } });
    },
  );

  test('has none of them by default either', async ({ exchange }) => {
    const { body } = await exchange();
    const held = String(body.scope).split(' ');
    expect(held).toEqual(expect.arrayContaining(OWN.map(({ scope }) => scope)));
    expect(held.filter((each) => LEADING.some(({ scope }) => scope === each))).toEqual([]);
  });
});
