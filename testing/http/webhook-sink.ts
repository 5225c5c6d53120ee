import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { listen } from '#edge/http/listen.ts';

export type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As it came, byte for byte. */
  readonly body: string;
  readonly id: string;
  readonly atMs: number;
};

/** The response of the receiver to a delivery; 204 by default. */
export type Behaviour = (received: Received, response: ServerResponse) => void | Promise<void>;

/** A webhook receiver that records every delivery. */
export type WebhookSink = AsyncDisposable & {
  readonly url: string;
  readonly received: readonly Received[];
  /** For later deliveries. */
  behave(behaviour: Behaviour): void;
  /** Stops it immediately; `start` starts it again at the same address. */
  kill(): Promise<void>;
  start(): Promise<void>;
};

const accept: Behaviour = (_received, response) => void response.writeHead(204).end();

export const startWebhookSink = async (): Promise<WebhookSink> => {
  const received: Received[] = [];
  let behaviour = accept;
  const serve = () =>
    createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      const one = {
        path: request.url ?? '',
        headers: request.headers,
        body,
        id: String(request.headers['webhook-id']),
        atMs: Date.now(),
      };
      received.push(one);
      await behaviour(one, response);
    });
  let server = serve();
  const url = await listen(server, { port: 0, host: '127.0.0.1', setting: 'PORT' });
  const end = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
  };
  return {
    url,
    received,
    behave(next) {
      behaviour = next;
    },
    kill: end,
    async start() {
      server = serve();
      await listen(server, { port: Number(new URL(url).port), host: '127.0.0.1', setting: 'PORT' });
    },
    [Symbol.asyncDispose]: end,
  };
};
