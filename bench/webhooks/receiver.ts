import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { listen } from '../../edge/http/listen.ts';

/** Receives in the process that writes, so that both have the same clock. */
export const startReceiver = async () => {
  const received = new Map<number, number[]>();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    const { commentId } = JSON.parse(text).data;
    // Never answers.
    if (request.url === HANGING) return;
    received.set(commentId, [...(received.get(commentId) ?? []), performance.now()]);
    response.writeHead(204).end();
  });
  const url = await listen(server, { port: 0, host: '127.0.0.1', setting: 'PORT' });
  const arrivals = (commentId: number): readonly number[] => received.get(commentId) ?? [];
  return {
    url,
    /** The times of the deliveries of each comment. */
    arrivals,
    async untilAll(commentIds: readonly number[], endpoints: number): Promise<void> {
      const endMs = performance.now() + RECEIVED_MS;
      while (commentIds.some((id) => arrivals(id).length < endpoints)) {
        if (performance.now() > endMs) throw new Error('not all writes were received');
        await delay(LOOK_MS);
      }
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
};

export const HANGING = '/hanging';
const RECEIVED_MS = 60_000;
const LOOK_MS = 50;
