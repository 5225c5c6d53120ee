import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startHttpServer } from '#edge/http/server.ts';
import { loadConfig } from '#process/load-config.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { AUTHORITY, SERVER } from './certificates.ts';

/** Serves TLS as in production, asking clients for certificates. */
export const serveTls = async (
  handler: RequestListener,
): Promise<AsyncDisposable & { readonly url: string }> => {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'annals-tls-'));
  opening.defer(() => rm(folder, { recursive: true }));
  const [certFile, keyFile, clientCaFile] = ['cert.pem', 'key.pem', 'ca.pem'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  await Promise.all([
    writeFile(certFile, SERVER.cert),
    writeFile(keyFile, SERVER.key),
    writeFile(clientCaFile, AUTHORITY),
  ]);
  const { limits } = loadConfig({});
  const { url } = opening.use(
    await startHttpServer({
      handler,
      listener: { port: 0, host: '127.0.0.1' },
      setting: 'PORT',
      tls: { certFile, keyFile, clientCaFile },
      limits,
      clock: REAL_TIME,
      drainMs: 1_000,
      log: pino({ level: 'silent' }),
    }),
  );
  const resources = opening.move();
  return { url, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** `fetch` with a client certificate, for which Node's has no option. */
export const fetchWithCertificate =
  (origin: string, pair: { readonly cert: string; readonly key: string } | undefined): typeof fetch =>
  async (input, init) => {
    const asked = new Request(input, init);
    const { pathname, search } = new URL(asked.url);
    const options = {
      method: asked.method,
      headers: Object.fromEntries(asked.headers),
      ca: AUTHORITY,
      agent: false as const,
      ...pair,
    };
    const sent = request(new URL(pathname + search, origin), options);
    sent.end(Buffer.from(await asked.arrayBuffer()));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    const status = answer.statusCode ?? 0;
    return new Response(chunks.length === 0 ? null : Buffer.concat(chunks), {
      status,
      headers: headersOf(answer),
    });
  };

/** Repeated headers stay separate, such as cookies. */
const headersOf = ({ headersDistinct }: IncomingMessage): [string, string][] =>
  Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
