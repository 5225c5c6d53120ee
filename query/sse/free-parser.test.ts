import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { test as base, describe, expect } from 'vitest';
import type { TlsFiles } from '#edge/http/tls-files.ts';
import { AUTHORITY, SERVER } from '../../test/engines/certificates.ts';
import { serve } from '../../test/serve.ts';
import { until } from '../../testing/until.ts';
import { freeParser } from './free-parser.ts';

type Begun = {
  readonly request: IncomingMessage;
  readonly socket: IncomingMessage['socket'] & { readonly parser?: unknown };
};

/** A server with a stream at `/stream`, which starts with `began`, and `ok` everywhere else. */
const serveStreams = async (options: { readonly tls?: TlsFiles; readonly drainMs?: number }) => {
  const begun: Begun[] = [];
  const handler: RequestListener = (request, response) => {
    if (request.url !== '/stream') return void response.end('ok');
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200).write('began\n');
    begun.push({ request, socket: request.socket });
    freeParser(request);
  };
  const server = await serve(handler, options);
  const open = () => {
    const { hostname: host, port } = new URL(server.url);
    const socket: Socket = options.tls
      ? connectTls({ host, port: Number(port), ca: AUTHORITY, servername: 'localhost' })
      : connect(Number(port), host);
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
    return { socket, received: () => received };
  };
  return { begun, open, server };
};

const ASKED = 'GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n';
const OTHER = 'GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n';
const isFree = ({ socket }: Begun): boolean => socket.parser === null;

const openStream = async ({ begun, open }: Awaited<ReturnType<typeof serveStreams>>) => {
  const client = open();
  client.socket.write(ASKED);
  await until(client.received, (text) => text.includes('began'));
  const stream = begun.at(-1) as Begun;
  await until(() => isFree(stream), Boolean);
  return { client, stream };
};

const test = base
  .extend('certificate', { scope: 'file' }, SERVER)
  .extend('tls', { scope: 'file' }, async ({ certificate: { cert, key } }, { onCleanup }) => {
    const folder = await mkdtempDisposable(join(tmpdir(), 'annals-'));
    onCleanup(() => folder.remove());
    const [certFile, keyFile] = [join(folder.path, 'cert.pem'), join(folder.path, 'key.pem')];
    await writeFile(certFile, cert);
    await writeFile(keyFile, key);
    return { certFile, keyFile, clientCaFile: undefined };
  });

describe.each([
  ['plain HTTP', false],
  ['TLS', true],
])('by %s', (_, isTls) => {
  test('bytes that a client sends during its stream are dropped, and the stream continues', async ({
    tls,
  }) => {
    const served = await serveStreams(isTls ? { tls } : {});
    await using _server = served.server;
    const { client, stream } = await openStream(served);
    client.socket.write(OTHER.repeat(3));
    client.socket.write('no request at all\r\n\r\n');
    await until(
      () => stream.socket.bytesRead,
      (bytes) => bytes >= ASKED.length + 3 * OTHER.length,
    );
    stream.socket.write('went on\n');
    await until(client.received, (text) => text.endsWith('went on\n'));
    expect(client.received()).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nbegan\nwent on\n$/);
    // Later connections have parsers of their own.
    const others = Array.from({ length: 20 }, served.open);
    for (const { socket } of others) socket.write(OTHER);
    for (const { received } of others) await until(received, (text) => text.endsWith('ok'));
    for (const { socket } of [client, ...others]) socket.destroy();
  });

  test('the stream closes when the client ends its side or disappears', async ({ tls }) => {
    const served = await serveStreams(isTls ? { tls } : {});
    await using _server = served.server;
    for (const leave of ['end', 'destroy'] as const) {
      const { client, stream } = await openStream(served);
      const closed = once(stream.socket, 'close');
      client.socket[leave]();
      await closed;
      expect(stream.request.destroyed).toBe(true);
    }
  });

  test('a stream that outlasts the drain timeout of the server is cut off', async ({ tls }) => {
    const served = await serveStreams({ ...(isTls && { tls }), drainMs: 50 });
    const { client } = await openStream(served);
    client.socket.on('error', () => {});
    const closed = once(client.socket, 'close');
    await served.server[Symbol.asyncDispose]();
    await closed;
    expect(served.server.logged()).toContain('took too long');
  });
});
