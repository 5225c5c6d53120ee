import { Router } from 'express';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { fetchKeys } from '#edge/authenticate/keys.ts';
import { openResourceServer } from '#edge/authenticate/resource-server.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool } from '#shared/database/pool.ts';
import { createAuthDatabase, ISSUER, registerClient, serviceClient } from '../engines/auth-database.ts';
import { basic, post } from '../engines/oauth.ts';
import { bearer } from '../engines/resource-api.ts';
import { serveRoutes } from '../serve.ts';

// Own server: it stops one server under another.

/** A role in another process than the authorization server, whose keys it fetches over the network. */
const openRole = async (databaseUrl: string, jwksUrl: string) => {
  await using opening = new AsyncDisposableStack();
  const pool = opening.use(openPool({ url: databaseUrl, applicationName: 'test', connectionsMax: 2 }));
  const options = {
    pool,
    clock: REAL_TIME,
    domain: publishing,
    log: pino({ level: 'silent' }),
    issuer: ISSUER,
    audience: ISSUER,
    ingressSecret: undefined,
  };
  const resource = opening.use(await openResourceServer({ ...options, loadKeys: fetchKeys(jwksUrl) }));
  const me = Router().get(
    '/me',
    (request, response) => void response.json({ kind: resource.callerOf(request).kind }),
  );
  const { url } = opening.use(await serveRoutes(Router().use(resource.handler), me));
  const resources = opening.move();
  const ask = async (token: string) => (await fetch(`${url}/me`, { headers: bearer(token) })).status;
  return { ask, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

test('a role continues during an outage of the authorization server, but cannot start', async () => {
  await using database = await createAuthDatabase();
  await using auth = await database.open();
  const client = await registerClient(auth, serviceClient);
  const tokens = await Promise.all(
    [1, 2].map(async () =>
      String(
        (await post(auth, '/token', { grant_type: 'client_credentials' }, basic(client))).body.access_token,
      ),
    ),
  );
  const [known = '', fresh = ''] = tokens;
  await using role = await openRole(database.databaseUrl, `${auth.url}/jwks`);
  expect(await role.ask(known)).toBe(200);
  await auth[Symbol.asyncDispose]();
  // A known token and a new one.
  expect([await role.ask(known), await role.ask(fresh)]).toEqual([200, 200]);
  await using late = await openRole(database.databaseUrl, `${auth.url}/jwks`);
  expect(await late.ask(fresh)).toBe(503);
});
