import { test as base, describe, expect } from 'vitest';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { type Echo, startEchoRole } from '../engines/echo-role.ts';
import { nginxMissing, startNginx } from '../engines/nginx.ts';
import { OPERATIONS } from '../engines/operations.ts';

// Own server: it tests the ingress before roles that only echo.

/** The routing table of DESIGN §1, as a real nginx reads it from deploy/nginx.conf. */
if (nginxMissing !== undefined)
  process.stderr.write(`Where the ingress leads is not tested: ${nginxMissing}.\n`);

const test = base
  .extend('roles', { scope: 'file' }, () => new AsyncDisposableStack())
  .extend('nginx', { scope: 'file' }, async ({ roles }, { onCleanup }) => {
    onCleanup(() => roles.disposeAsync());
    const nginx = roles.use(await startNginx({ secret: 'secret-between-ingress-and-roles' }));
    const start = async (role: string) => [roles.use(await startEchoRole(role)).address];
    const dispatcher = await start('webhook-dispatcher');
    await nginx.lead({
      command: await start('command'),
      query: await start('query'),
      auth: await start('auth'),
      dispatcher,
    });
    return nginx;
  })
  .extend('ask', { scope: 'file' }, ({ nginx }) => restClientOf(nginx))
  .extend('echoOf', { scope: 'file' }, ({ ask }) => async (method: string, path: string): Promise<Echo> => {
    return (await ask(method, path)).body as Echo;
  });

describe.skipIf(nginxMissing !== undefined)('the ingress', () => {
  test('routes every operation of the REST interface to its role, also under /api', async ({ echoOf }) => {
    for (const { method, path, role } of Object.values(OPERATIONS)) {
      const url = path.replaceAll(/\{\w+\}/g, '7');
      expect([method, path, (await echoOf(method, url)).role]).toEqual([method, path, role]);
      expect(await echoOf(method, `/api${url}`)).toMatchObject({ role, url: `/api${url}` });
    }
  });

  test.for<[prefer: string, role: string]>([
    ['return=representation', 'query'],
    ['respond-async, Return = "representation"; x=1', 'query'],
    ['return=minimal', 'command'],
    ['return=representations-of-others, x', 'command'],
    ['handling=strict; return=representation', 'command'],
  ])('routes writes that prefer %s to %s, and nothing else elsewhere', async ([prefer, role], { ask }) => {
    const send = async (method: string, path: string) =>
      ((await ask(method, path, { headers: { prefer } })).body as Echo).role;
    expect([await send('POST', '/api/articles'), await send('PATCH', '/users/7')]).toEqual([role, role]);
    expect(await send('GET', '/articles')).toBe('query');
    expect(await send('PUT', '/articles/7/cover')).toBe('command');
    expect(await send('POST', '/webhooks/7/test')).toBe('webhook-dispatcher');
  });

  test.for<[method: string, path: string, role: string]>([
    ['GET', '/', 'query'],
    ['GET', '/me', 'query'],
    ['GET', '/account/webhooks', 'query'],
    ['GET', '/account/webhooks/6001/deliveries/1', 'query'],
    ['GET', '/account', 'auth'],
    ['GET', '/deliveries', 'webhook-dispatcher'],
    ['GET', '/uploads/picture.png', 'query'],
    ['GET', '/openapi.json', 'query'],
    ['GET', '/docs', 'query'],
    ['POST', '/graphql', 'query'],
    ['PUT', '/graphql', 'query'],
    ['DELETE', '/graphql?operationId=1', 'query'],
    ['GET', '/events', 'query'],
    ['GET', '/api/events', 'query'],
    ['GET', '/event-types', 'query'],
    ['GET', '/audit/heads', 'query'],
    ['GET', '/readyz', 'query'],
    ['OPTIONS', '/articles', 'query'],
    ['PROPFIND', '/articles', 'query'],
    ['PUT', '/articles/7/cover', 'command'],
    ['GET', '/articlesque', 'query'],
    ['GET', '/authorize?client_id=x', 'auth'],
    ['GET', '/authorize/abc', 'auth'],
    ['POST', '/token', 'auth'],
    ['OPTIONS', '/token', 'auth'],
    ['POST', '/device_authorization', 'auth'],
    ['GET', '/device', 'auth'],
    ['POST', '/introspect', 'auth'],
    ['POST', '/revoke', 'auth'],
    ['POST', '/par', 'auth'],
    ['GET', '/jwks', 'auth'],
    ['GET', '/userinfo', 'auth'],
    ['POST', '/register', 'auth'],
    ['DELETE', '/clients/robot', 'auth'],
    ['GET', '/sign-in/abc', 'auth'],
    ['GET', '/sign-up', 'auth'],
    ['POST', '/sign-out/confirm', 'auth'],
    ['POST', '/consent/abc', 'auth'],
    ['GET', '/.well-known/openid-configuration', 'auth'],
    ['GET', '/.well-known/oauth-protected-resource', 'auth'],
    ['GET', '/.well-known/api-catalog', 'query'],
    ['GET', '/openapi.yaml', 'query'],
    ['GET', '/asyncapi.json', 'query'],
    ['GET', '/asyncapi.yaml', 'query'],
    ['GET', '/schemas/events/article.published/1', 'query'],
    ['GET', '/graphql/schema.graphql', 'query'],
  ])('routes %s %s to %s', async ([method, path, role], { echoOf }) => {
    expect(await echoOf(method, path)).toMatchObject({ role, method, url: path });
  });
});
