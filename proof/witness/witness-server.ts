import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from '#edge/http/node-http.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { type Answer, addCheckpoint } from './add-checkpoint.ts';
import { createAllowance } from './allowance.ts';
import type { WitnessStore } from './store.ts';
import type { Cosigner } from './witness-keys.ts';

type ServerOptions = {
  readonly store: WitnessStore;
  readonly cosigners: readonly Cosigner[];
  readonly listener: { readonly host: string; readonly port: number };
  /** Of one address. */
  readonly requestsPerSecond: number;
  readonly clock: Clock;
  onFailure(error: unknown): void;
};

export type WitnessServer = AsyncDisposable & { readonly url: string };

/** Enough for a checkpoint with 16 signatures of 5 KB, in Base64. */
const BODY_BYTES_MAX = 131_072;
const HEADER_BYTES_MAX = 8_192;
const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 65_000;
const CONNECTIONS_MAX = 1_000;
/** Requests under way when the process ends. */
const DRAIN_MS = 2_000;

/** A witness over HTTP (C2SP tlog-witness), until it is disposed. */
export const startWitnessServer = async (options: ServerOptions): Promise<WitnessServer> => {
  const { listener, clock } = options;
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: HEADERS_TIMEOUT_MS,
    },
    witnessHandler(options),
  );
  server.maxConnections = CONNECTIONS_MAX;
  server.listen(listener.port, listener.host);
  await once(server, 'listening');
  const { address, family, port } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeIdleConnections();
      const closed = once(server, 'close');
      using _cut = clock.after(DRAIN_MS, () => server.closeAllConnections());
      await closed;
    },
  };
};

const witnessHandler = (options: ServerOptions): RequestListener => {
  const { requestsPerSecond, clock, onFailure } = options;
  const mayAsk = createAllowance(requestsPerSecond, clock);
  return async (request, response) => {
    const { remoteAddress = '' } = request.socket;
    try {
      send(response, mayAsk(remoteAddress) ? await answerTo(options, request) : TOO_MANY);
    } catch (error) {
      if (request.destroyed && !request.complete) return;
      onFailure(error);
      send(response, FAILED);
    }
  };
};

const TOO_MANY: Answer = { status: 429, body: 'This address asks too often.\n' };
const FAILED: Answer = { status: 500, body: 'The witness has failed, and has signed nothing.\n' };
const TOO_LARGE: Answer = { status: 413, body: `The body has more than ${BODY_BYTES_MAX} bytes.\n` };
const NOT_FOUND: Answer = {
  status: 404,
  body: 'There is POST /add-checkpoint, and GET /<SHA-256 of the origin>/checkpoint.\n',
};
const NOT_ALLOWED: Answer = { status: 405, body: 'The path has another method.\n' };
const NOT_SEEN: Answer = { status: 404, body: 'This witness has cosigned no checkpoint of the log.\n' };

const CHECKPOINT = /^\/([0-9a-f]{64})\/checkpoint$/;

const answerTo = async (options: ServerOptions, request: IncomingMessage): Promise<Answer> => {
  const { store, cosigners, clock } = options;
  const [path] = (request.url ?? '').split('?', 1);
  if (path === '/add-checkpoint') {
    if (request.method !== 'POST') return NOT_ALLOWED;
    const body = await bodyOf(request);
    return body === undefined
      ? TOO_LARGE
      : addCheckpoint({ store, cosigners, nowMs: () => clock.nowMs() }, body);
  }
  const [, originHash] = CHECKPOINT.exec(path ?? '') ?? [];
  if (originHash === undefined) return NOT_FOUND;
  if (request.method !== 'GET' && request.method !== 'HEAD') return NOT_ALLOWED;
  const note = store.noteOf(originHash);
  return note === undefined ? NOT_SEEN : { status: 200, body: note };
};

/** Undefined if it is too large: then the rest is not read. */
const bodyOf = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  if (Number(request.headers['content-length']) > BODY_BYTES_MAX) return undefined;
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
};

const send = (
  response: ServerResponse,
  { status, body, type = 'text/plain; charset=utf-8' }: Answer,
): void => {
  if (response.headersSent || response.destroyed) return;
  const isLast = !response.req.complete || status === 413;
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    ...(status === 429 && { 'retry-after': '1' }),
    ...(isLast && { connection: 'close' }),
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
};
