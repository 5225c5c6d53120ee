// Over 200 lines, because every rule of the ingress is tried on the one nginx that is started here.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { test as base, describe, expect } from 'vitest';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { AUTHORITY, CLIENT, SERVER } from '../engines/certificates.ts';
import { type Echo, startEchoRole } from '../engines/echo-role.ts';
import { nginxMissing, startNginx } from '../engines/nginx.ts';
import { fetchWithCertificate } from '../engines/tls-fetch.ts';

// Own server: it tests the ingress before roles that only echo.

/** deploy/nginx.conf in a real nginx, in front of roles that report their requests. */
if (nginxMissing !== undefined) process.stderr.write(`The ingress is not tested: ${nginxMissing}.\n`);

const SECRET = 'secret-between-ingress-and-roles';
const STREAM = 'event: first\n\n';

/** Special answers of the roles for tests of the path to them. */
const special = (
  request: IncomingMessage,
  response: Parameters<Parameters<typeof startEchoRole>[1] & object>[1],
): boolean => {
  if (request.url === '/graphql?stream')
    return !!response.writeHead(200, { 'content-type': 'text/event-stream' }).write(STREAM);
  if (request.url === '/big')
    return !!response
      .writeHead(200, { 'content-type': 'application/json', etag: '"1-strong"' })
      .end(`"${'a'.repeat(5_000)}"`);
  if (request.url === '/articles/1/cover')
    return !!response
      .writeHead(403, { 'content-type': 'application/problem+json', connection: 'close' })
      .end('{"code":"early"}');
  if (request.url !== '/gone' && request.url !== '/articles/2') return false;
  request.socket.destroy();
  return true;
};

const test = base
  .extend('roles', { scope: 'file' }, () => new AsyncDisposableStack())
  .extend('command', { scope: 'file' }, async ({ roles }) =>
    roles.use(await startEchoRole('command', special)),
  )
  .extend('nginx', { scope: 'file' }, async ({ command, roles }, { onCleanup }) => {
    onCleanup(() => roles.disposeAsync());
    const tls = { cert: SERVER.cert, key: SERVER.key, clientCa: AUTHORITY };
    const nginx = roles.use(await startNginx({ secret: SECRET, tls }));
    const query = roles.use(await startEchoRole('query', special));
    const auth = roles.use(await startEchoRole('auth'));
    await nginx.lead({ command: [command.address], query: [query.address], auth: [auth.address] });
    return nginx;
  })
  .extend('ask', { scope: 'file' }, ({ nginx }) => {
    const ask = restClientOf(nginx);
    // After a reload, nginx closes connections that are kept, also one on which a request is just sent.
    return (...[method, path, options]: Parameters<typeof ask>) =>
      ask(method, path, { ...options, headers: { connection: 'close', ...options?.headers } });
  })
  .extend(
    'echoOf',
    { scope: 'file' },
    ({ ask }) =>
      async (method: string, path: string, options: Parameters<typeof ask>[2] = {}): Promise<Echo> =>
        (await ask(method, path, options)).body as Echo,
  );

describe.skipIf(nginxMissing !== undefined)('the ingress', () => {
  test('passes the client’s address to the roles, whatever the client sends', async ({ echoOf, nginx }) => {
    const forged = {
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'evil.example',
      forwarded: 'for=203.0.113.9',
      'x-client-cert': 'forged',
      'x-client-verify': 'SUCCESS',
      'x-client-cert-secret': 'guessed',
    };
    const { headers } = await echoOf('GET', '/', { headers: forged });
    const { host } = new URL(nginx.url);
    expect(headers).toMatchObject({
      host,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': host,
      forwarded: 'for=127.0.0.1;proto=http',
      'x-client-cert-secret': SECRET,
    });
    expect(headers).not.toHaveProperty('x-client-cert');
    expect(headers).not.toHaveProperty('x-client-verify');
  });

  test('passes a verified client certificate to the roles', async ({ nginx }) => {
    const get = async (pair: Parameters<typeof fetchWithCertificate>[1]) => {
      const response = await fetchWithCertificate(nginx.tlsUrl ?? '', pair)(`${nginx.tlsUrl}/token`, {
        method: 'POST',
      });
      return ((await response.json()) as Echo).headers;
    };
    const { 'x-client-cert': escaped, ...headers } = await get(CLIENT);
    expect(decodeURIComponent(String(escaped)).trim()).toBe(CLIENT.cert.trim());
    expect(headers).toMatchObject({ 'x-client-verify': 'SUCCESS', 'x-forwarded-proto': 'https' });
    expect(await get(undefined)).toMatchObject({ 'x-client-verify': 'NONE' });
    expect(await get(SERVER)).toMatchObject({
      'x-client-verify': expect.stringMatching(/^(SUCCESS|FAILED)/),
    });
  });

  test('passes the id of a request on, or makes one', async ({ echoOf }) => {
    expect(
      (await echoOf('GET', '/', { headers: { 'x-request-id': 'mine-1' } })).headers['x-request-id'],
    ).toBe('mine-1');
    expect(
      (await echoOf('GET', '/', { headers: { 'x-request-id': 'no good' } })).headers['x-request-id'],
    ).toMatch(/^[0-9a-f]{32}$/);
  });

  test('compresses large answers, and keeps the version in their entity tag', async ({ nginx }) => {
    const response = await fetch(`${nginx.url}/big`, { headers: { 'accept-encoding': 'gzip' } });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(response.headers.get('etag')).toBe('W/"1-strong"');
    expect(await response.json()).toHaveLength(5_000);
  });

  test('does not buffer a stream of events', async ({ nginx }) => {
    const stopping = new AbortController();
    const response = await fetch(`${nginx.url}/graphql?stream`, { method: 'POST', signal: stopping.signal });
    const { value } = (await response.body?.getReader().read()) ?? {};
    expect(Buffer.from(value ?? []).toString()).toBe(STREAM);
    stopping.abort();
  });

  test('forwards an upload before it is complete, and its refusal', async ({ nginx }) => {
    const { hostname, port } = new URL(nginx.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    // The rest never comes.
    socket.write(
      'PUT /articles/1/cover HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nContent-Length: 10000000\r\n\r\nbegin',
    );
    const [received] = await once(socket, 'data');
    expect(String(received)).toMatch(/^HTTP\/1\.1 403 [\s\S]*"early"/);
    socket.destroy();
  });

  test('has larger limits than the roles, but has limits', async ({ ask, echoOf }) => {
    const body = 'a'.repeat(2_000_000);
    expect(await echoOf('POST', '/articles', { body })).toMatchObject({ role: 'command', bytes: 2_000_000 });
    expect(await ask('POST', '/articles', { body: body.repeat(3) })).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    });
    const headers = { 'x-large': 'a'.repeat(12_000) };
    expect((await echoOf('GET', '/', { headers })).headers['x-large']).toHaveLength(12_000);
    expect(await ask('GET', '/', { headers: { 'x-large': 'a'.repeat(70_000) } })).toMatchObject({
      status: 431,
      body: { code: 'headers_too_large' },
    });
  });

  test('serves a client of HTTP/1.0 without a Host header', async ({ nginx }) => {
    const { hostname, port } = new URL(nginx.url);
    const socket = connect(Number(port), hostname);
    socket.write('GET /articles HTTP/1.0\r\n\r\n');
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.for<[code: string, status: number, head: string]>([
    ['method_not_allowed', 405, 'TRACE / HTTP/1.1\r\nHost: x'],
    ['malformed_request', 400, 'GET / HTTP/1.1'],
    ['not_found', 404, 'GET /_problem HTTP/1.1\r\nHost: x'],
    ['headers_too_large', 414, `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: x`],
  ])('answers %s (%i) as the roles do', async ([code, status, head], { nginx }) => {
    const { hostname, port } = new URL(nginx.url);
    const socket = connect(Number(port), hostname);
    socket.end(`${head}\r\nConnection: close\r\n\r\n`);
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toMatch(
      new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*Content-Type: application/problem\\+json`),
    );
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
      type: `urn:annals:problem:${code}`,
      status,
      code,
    });
    if (status === 405) expect(answer).toContain('Allow: GET');
  });

  test('answers 503 with Retry-After if a role is unavailable', async ({ ask }) => {
    const { status, headers, body } = await ask('GET', '/gone', { headers: { 'x-request-id': 'mine-2' } });
    expect([status, headers.get('retry-after'), headers.get('content-type')]).toEqual([
      503,
      '1',
      'application/problem+json',
    ]);
    expect(body).toMatchObject({ code: 'unavailable', status: 503, requestId: 'mine-2' });
  });

  test('tries another replica, but writes only once', async ({ ask, command, echoOf, nginx }) => {
    await using failing = await startEchoRole('first', special);
    await using other = await startEchoRole('second', special);
    await nginx.lead({
      command: [failing.address, other.address],
      query: [failing.address, other.address],
      auth: [command.address],
    });
    await failing[Symbol.asyncDispose]();
    // The missing one was sent nothing.
    for (let times = 0; times < 4; times += 1)
      expect(await echoOf('POST', '/articles')).toMatchObject({ role: 'second' });
    await using hanging = await startEchoRole('third', special);
    await nginx.lead({
      command: [hanging.address, other.address],
      query: [hanging.address, other.address],
      auth: [command.address],
    });
    const before = hanging.requests() + other.requests();
    expect((await ask('POST', '/articles/2')).status).toBe(503);
    expect(hanging.requests() + other.requests()).toBe(before + 1);
    expect((await ask('GET', '/gone')).status).toBe(503);
    expect(hanging.requests() + other.requests()).toBe(before + 4);
  });

  test('sends a write that a draining replica refuses to another, or back to it if there is no other', async ({
    echoOf,
    nginx,
  }) => {
    const stops: typeof special = ({ headers }, response) =>
      headers['x-may-move'] === 'yes' && !!response.writeHead(502, { 'x-accel-redirect': '@again' }).end();
    await using stopping = await startEchoRole('stopping', stops);
    await using other = await startEchoRole('other');
    const others = { query: [other.address], auth: [other.address] };
    await nginx.lead({ ...others, command: [stopping.address, other.address] });
    for (let times = 0; times < 4; times += 1)
      expect(await echoOf('POST', '/articles', { body: 'text' })).toMatchObject({ role: 'other', bytes: 4 });
    // Only the first request came there: for a while it gets no others.
    expect(stopping.requests()).toBe(1);
    await nginx.lead({ ...others, command: [stopping.address] });
    expect(await echoOf('POST', '/articles', { body: 'text' })).toMatchObject({ role: 'stopping', bytes: 4 });
    expect(await echoOf('PUT', '/articles/1/cover', { body: 'text' })).toMatchObject({
      role: 'stopping',
      bytes: 4,
    });
  });

  test('finds the only available replica among many', async ({ ask, nginx }) => {
    await using there = await startEchoRole('there');
    const gone = await Promise.all(['one', 'two', 'three', 'four'].map((name) => startEchoRole(name)));
    for (const each of gone) await each[Symbol.asyncDispose]();
    const copies = [...gone.map(({ address }) => address), there.address];
    for (const [method, path] of [
      ['GET', '/articles'],
      ['POST', '/articles'],
      ['POST', '/graphql'],
      ['POST', '/token'],
    ] as const) {
      // An unavailable server is not asked for a while; after a reload, nginx asks each.
      await nginx.lead({ command: copies, query: copies, auth: copies });
      expect(await ask(method, path)).toMatchObject({ status: 200, body: { role: 'there' } });
    }
  });

  test('routes all requests of one token to one replica, and many tokens to all', async ({
    command,
    echoOf,
    nginx,
    roles,
  }) => {
    const copies = [roles.use(await startEchoRole('query one')), roles.use(await startEchoRole('query two'))];
    const others = { command: [command.address], auth: [command.address] };
    await nginx.lead({ ...others, query: copies.map(({ address }) => address) });
    const tokens = Array.from({ length: 20 }, (_, index) => `token-${index}`);
    const served: string[] = [];
    for (const token of tokens) {
      const named = { headers: { 'x-graphql-event-stream-token': token } };
      const all = await Promise.all([
        ...['GET', 'POST', 'DELETE'].map((method) => echoOf(method, '/graphql?operationId=1', named)),
        echoOf('GET', `/graphql?token=${token}`),
      ]);
      expect(new Set(all.map(({ role }) => role)).size, token).toBe(1);
      served.push(all[0]?.role ?? '');
    }
    expect(new Set(served)).toEqual(new Set(['query one', 'query two']));
  });

  test('logs each request without its query', async ({ ask, nginx }) => {
    const lineOf = async (id: string, ...[method, path]: [string, string]): Promise<string> => {
      await ask(method, path, { headers: { 'x-request-id': id } });
      return (await nginx.logged()).split('\n').find((each) => each.includes(id)) ?? '';
    };
    const line = await lineOf('logged-1', 'GET', '/authorize?code=secret-code');
    expect(JSON.parse(line)).toMatchObject({
      requestId: 'logged-1',
      method: 'GET',
      path: '/authorize',
      role: 'auth',
      status: 200,
    });
    expect(line).not.toContain('secret-code');
    // Also if the ingress answers itself.
    expect(JSON.parse(await lineOf('logged-2', 'POST', '/articles/2'))).toMatchObject({
      method: 'POST',
      path: '/articles/2',
      status: 503,
    });
  });
});
