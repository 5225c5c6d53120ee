import type { IncomingMessage } from 'node:http';
import { get as getByTls } from 'node:https';
import { json } from 'node:stream/consumers';
import { get } from './node-http.ts';

type Options = { readonly timeoutMs: number };

/**
 * Reads a document in JSON, and follows no redirect. `fetch` would load a second HTTP client, which takes some
 * 14 MB of memory.
 */
export const getJson = async (url: string, { timeoutMs }: Options): Promise<unknown> => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(timeoutMs) };
  (url.startsWith('https:') ? getByTls : get)(url, options, resolve).once('error', reject);
  const response = await promise;
  if (response.statusCode !== 200) {
    response.destroy();
    throw new Error(`${url} answered ${response.statusCode}`);
  }
  return await json(response);
};
