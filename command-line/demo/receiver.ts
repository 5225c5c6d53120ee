import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DemoWebhook } from '#kernel/demo/demo.ts';
import { until } from './until.ts';

/** Where the webhooks of a demo lead, as long as it runs. */
export type Receiver = AsyncDisposable & {
  readonly url: string;
  /** Answers once everything that it has refused has come again, or when that takes too long. */
  settled(signal: AbortSignal): Promise<void>;
};

/** What is refused the first time comes again after five seconds, give or take a fifth. */
const SETTLES_MS = 10_000;
/** Of so many events one is refused at first. */
const REFUSES_EVERY = 7;
const HOST = '127.0.0.1';

/** Serves all of them at their paths. */
export const startReceiver = async (webhooks: readonly DemoWebhook[]): Promise<Receiver> => {
  const kinds = new Map(webhooks.map(({ path, receiver }) => [path, receiver]));
  const refused = new Set<string>();
  let heard = 0;
  const answerOf = (path: string, id: string): { status: number; text: string } => {
    if (kinds.get(path) === 'gone') return { status: 410, text: 'This receiver has moved.' };
    heard += 1;
    if (kinds.get(path) === 'flaky' && !refused.delete(id) && heard % REFUSES_EVERY === 0) {
      refused.add(id);
      return { status: 500, text: 'The database did not answer.' };
    }
    return { status: 200, text: 'Thank you.' };
  };
  const server = createServer((request, response) => {
    request.resume();
    const { status, text } = answerOf(request.url ?? '', String(request.headers['webhook-id']));
    response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    settled: async (signal) => void (await until(async () => refused.size === 0 || signal.aborted, SETTLES_MS)),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
