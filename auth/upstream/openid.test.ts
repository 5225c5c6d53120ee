import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startLocalServer } from '../../test/engines/local-server.ts';
import { UpstreamFailed } from './connection.ts';
import { openIdConnection } from './openid.ts';

const BINDING = { redirectUri: 'https://annals.example/x', state: 's', nonce: 'n', verifier: 'v'.repeat(43) };

test.each([
  ['no address to go to', {}],
  ['one that no browser goes to', { authorization_endpoint: 'javascript:alert(1)' }],
  ['one that is none', { authorization_endpoint: 'here' }],
])('metadata with %s begin no sign-in', async (_what, metadata) => {
  let issuer = '';
  await using server = await startLocalServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ issuer, ...metadata }));
  });
  issuer = server.url;
  const upstream = {
    ...{ kind: 'openid' as const, name: 'acme', label: 'Acme', issuer, clientId: 'c', clientSecret: 's' },
    ...{ scopes: ['openid'], email: 'verified' as const, linkByEmail: false, accounts: [] },
  };
  const dependencies = { clock: { elapsedMs: () => 0 }, log: pino({ level: 'silent' }) };
  const failed = await openIdConnection(upstream, dependencies)
    .begin(BINDING, 'any')
    .catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(UpstreamFailed);
});
