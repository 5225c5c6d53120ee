import { until } from '../until.ts';
import type { Ask, Reply, RestClient } from './rest-client.ts';

type Written = { readonly id: number; readonly version: number; readonly cursor: string };

/** A client that always reads its own writes. */
export type RestSession = {
  /** Writes, and remembers the cursor that a reader must have reached to see it. */
  write(method: string, path: string, options: Ask): Promise<Reply & { readonly written: Written }>;
  /** Reads with every earlier write applied. */
  read<Body>(path: string, options?: Ask): Promise<Reply & { readonly body: Body }>;
};

export const restSessionOver = (ask: RestClient): RestSession => {
  let cursor: string | undefined;
  return {
    async write(method, path, options) {
      const reply = await ask(method, path, options);
      if (reply.status >= 300)
        throw new Error(`${method} ${path} was answered with ${reply.status}: ${JSON.stringify(reply.body)}`);
      cursor = reply.headers.get('consistency-token') ?? '';
      if (cursor === '') throw new Error(`${method} ${path} was answered without a consistency token`);
      return { ...reply, written: reply.body as Written };
    },
    async read<Body>(path: string, { headers, ...options }: Ask = {}) {
      const asked = {
        ...options,
        headers: { ...(cursor !== undefined && { 'consistency-token': cursor }), ...headers },
      };
      // On a busy machine, the server may give up waiting for the cursor.
      const reply = await until(
        () => ask('GET', path, asked),
        ({ status }) => status !== 503,
      );
      return reply as Reply & { readonly body: Body };
    },
  };
};
