import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { expect, test, vi } from 'vitest';
import { loadConfig } from '#process/load-config.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { AUTHORITY, SERVER } from '../../test/engines/certificates.ts';
import { captureLog, serve } from '../../test/serve.ts';
import { scaled } from '../../testing/load.ts';
import { startHttpServer } from './server.ts';

/** Sends bytes over a socket of their own and reads until the server ends it. */
const exchange = async (url: string, bytes: string): Promise<string> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  return text(socket);
};

/** A handler that holds its responses until they are released. */
const gate = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  return {
    handler: async (_request: IncomingMessage, response: { end(text: string): void }) => {
      waiting += 1;
      await promise;
      response.end('done');
    },
    open: resolve,
    waiting: () => waiting,
  };
};

test('a port that is in use is one sentence that names the setting', async () => {
  await using first = await serve((_request, response) => response.end());
  const port = Number(new URL(first.url).port);
  const second = startHttpServer({
    handler: () => {},
    listener: { port, host: '127.0.0.1' },
    setting: 'PORT',
    limits: loadConfig({}).limits,
    clock: REAL_TIME,
    drainMs: 100,
    log: captureLog().log,
  });
  await expect(second).rejects.toThrow(
    `Port ${port} is in use: stop the program that has it, or set PORT to another port (0 takes any free one).`,
  );
});

test('disposal lets a request in flight finish and takes no new ones', async () => {
  const { handler, open, waiting } = gate();
  await using server = await serve(handler);
  const answer = fetch(server.url);
  await vi.waitFor(() => expect(waiting()).toBe(1), scaled(1_000));
  const disposed = server[Symbol.asyncDispose]();
  await vi.waitFor(() => expect(fetch(server.url)).rejects.toThrow(), scaled(1_000));
  open();
  expect(await (await answer).text()).toBe('done');
  await disposed;
});

test('disposal ends connections that are kept alive without a request', async () => {
  await using server = await serve((_request, response) => response.end('ok'));
  using agent = Object.assign(new Agent({ keepAlive: true }), { [Symbol.dispose]: () => agent.destroy() });
  const request = httpRequest(server.url, { agent }).end();
  const [response] = await once(request, 'response');
  await text(response);
  const startedAt = performance.now();
  await server[Symbol.asyncDispose]();
  expect(performance.now() - startedAt).toBeLessThan(scaled(2_000));
});

test('disposal ends connections that have not sent a request yet, also in the middle of its headers', async () => {
  await using server = await serve((_request, response) => response.end('ok'));
  const { hostname, port } = new URL(server.url);
  const sockets = ['', 'GET / HTTP/1.1\r\nHo'].map((bytes) => {
    const socket = connect(Number(port), hostname);
    socket.write(bytes);
    return socket;
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  // The server accepts connections in order, so it has accepted those before this one.
  await (await fetch(server.url)).text();
  const ended = Promise.all(sockets.map((socket) => text(socket)));
  const startedAt = performance.now();
  await server[Symbol.asyncDispose]();
  expect(performance.now() - startedAt).toBeLessThan(scaled(2_000));
  expect(await ended).toEqual(['', '']);
});

test('with TLS, disposal ends connections without a request and lets requests in flight finish', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'annals-tls-'));
  const tls = {
    certFile: join(folder.path, 'cert.pem'),
    keyFile: join(folder.path, 'key.pem'),
    clientCaFile: undefined,
  };
  await writeFile(tls.certFile, SERVER.cert);
  await writeFile(tls.keyFile, SERVER.key);
  const { handler, open, waiting } = gate();
  await using server = await serve(handler, { tls });
  const { hostname, port } = new URL(server.url);
  const plain = connect(Number(port), hostname);
  await once(plain, 'connect');
  const [idle, asking] = [
    connectTls(Number(port), hostname, { ca: AUTHORITY }),
    connectTls(Number(port), hostname, { ca: AUTHORITY }),
  ];
  await Promise.all([once(idle, 'secureConnect'), once(asking, 'secureConnect')]);
  asking.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await vi.waitFor(() => expect(waiting()).toBe(1), scaled(1_000));
  const disposed = server[Symbol.asyncDispose]();
  await Promise.all([once(plain, 'close'), once(idle.resume(), 'close')]);
  open();
  expect(await text(asking)).toMatch(/^HTTP\/1\.1 200 [\s\S]*done/);
  await disposed;
});

test('a response sent while draining tells the client to close', async () => {
  const { handler, open, waiting } = gate();
  await using server = await serve(handler);
  const raw = exchange(server.url, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await vi.waitFor(() => expect(waiting()).toBe(1), scaled(1_000));
  const disposed = server[Symbol.asyncDispose]();
  open();
  expect((await raw).toLowerCase()).toContain('connection: close');
  await disposed;
});

test('a request that outlasts the drain is cut off', async () => {
  const { handler, waiting } = gate();
  await using server = await serve(handler, { drainMs: 50 });
  const answer = fetch(server.url);
  const failed = expect(answer).rejects.toThrow();
  await vi.waitFor(() => expect(waiting()).toBe(1), scaled(1_000));
  await server[Symbol.asyncDispose]();
  await failed;
  expect(server.logged()).toContain('cut off');
});

test('headers over the limit are refused with 431', async () => {
  await using server = await serve((_request, response) => response.end());
  const raw = await exchange(
    server.url,
    `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(33_000)}\r\n\r\n`,
  );
  expect(raw).toMatch(/^HTTP\/1\.1 431 /);
  expect(raw).toContain('"code":"headers_too_large"');
});

test('bytes that are not HTTP are refused with 400', async () => {
  await using server = await serve((_request, response) => response.end());
  const raw = await exchange(server.url, 'HELLO\r\n\r\n');
  expect(raw).toMatch(/^HTTP\/1\.1 400 [\s\S]*application\/problem\+json/);
});

test('a client that does not finish its headers is refused with 408', async () => {
  await using server = await serve((_request, response) => response.end(), {
    limits: { headersTimeoutMs: 100 },
  });
  expect(await exchange(server.url, 'GET / HTTP/1.1\r\nHost: x\r\n')).toMatch(/^HTTP\/1\.1 408 /);
});

test('a client that does not finish its request is refused with 408', async () => {
  const limits = { headersTimeoutMs: 100, requestTimeoutMs: 200 };
  await using server = await serve(() => {}, { limits });
  expect(await exchange(server.url, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc')).toMatch(
    /^HTTP\/1\.1 408 /,
  );
});

test('more connections than the limit are refused, and the log says so', async () => {
  const { handler, open, waiting } = gate();
  await using server = await serve(handler, { limits: { connectionsMax: 1 } });
  const first = fetch(server.url);
  await vi.waitFor(() => expect(waiting()).toBe(1), scaled(1_000));
  await expect(
    exchange(server.url, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n').then(
      (raw) => raw || Promise.reject(new Error('ended')),
    ),
  ).rejects.toThrow();
  expect(server.logged()).toContain('CONNECTIONS_MAX');
  open();
  await (await first).text();
});
