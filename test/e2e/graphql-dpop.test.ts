import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { sharedTest as test } from '../engines/installation-fixture.ts';
import { newDpopKey } from '../engines/oauth.ts';

test('a token bound to a key works with GraphQL, with a proof for each request', async ({
  ask,
  installation,
}) => {
  const { clientId, secret } = installation.admin;
  const key = await newDpopKey();
  const proof = (path: string, more: object = {}) =>
    key.proof({ htm: 'POST', htu: `${installation.url}${path}`, ...more });
  const { body } = await ask('POST', '/token', {
    body: 'grant_type=client_credentials',
    type: 'application/x-www-form-urlencoded',
    headers: {
      authorization: `Basic ${btoa(`${clientId}:${encodeURIComponent(secret)}`)}`,
      dpop: await proof('/token'),
    },
  });
  const token = (body as { access_token: string }).access_token;
  const ath = createHash('sha256').update(token).digest('base64url');
  const asked = async (path: string, dpop: string) =>
    ask('POST', path, {
      body: { query: '{ me { role } }' },
      headers: { authorization: `DPoP ${token}`, dpop },
    });
  for (const path of ['/graphql', '/graphql?by=another+way'])
    expect(await asked(path, await proof('/graphql', { ath }))).toMatchObject({
      status: 200,
      body: { data: { me: { role: 'admin' } } },
    });
  const refusal = { status: 401, body: { errors: [{ extensions: { code: 'invalid_dpop_proof' } }] } };
  expect(await asked('/graphql', await proof('/articles', { ath }))).toMatchObject(refusal);
});
