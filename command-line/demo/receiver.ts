import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

/** Takes all at `/search-index`, most at `/newsletter`, and at `/old-list` says that it is gone. */
export const startReceiver = async (): Promise<Receiver> => {
  const refused = new Set<string>();
  let heard = 0;
  const answerOf = (path: string, id: string): { status: number; text: string } => {
    if (path === '/old-list') return { status: 410, text: 'This list has moved to the newsletter.' };
    heard += 1;
    if (path === '/newsletter' && !refused.delete(id) && heard % REFUSES_EVERY === 0) {
      refused.add(id);
      return { status: 500, text: 'The mail server did not answer.' };
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
