import type { IncomingMessage } from 'node:http';
import { get as getByTls } from 'node:https';
import { get } from './node-http.ts';

type Options = { readonly timeoutMs: number };

/** No set of keys is longer. */
const BYTES_MAX = 1_048_576;

/**
 * Reads a document in JSON, and follows no redirect. `fetch` would load a second HTTP client, which takes some
 * 14 MB of memory.
 */
export const getJson = async (url: string, { timeoutMs }: Options): Promise<unknown> => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(timeoutMs) };
  const isByTls = new URL(url).protocol === 'https:';
  const request = (isByTls ? getByTls : get)(url, options, resolve).once('error', reject);
  // A server that wants to speak another protocol causes neither an answer nor an error.
  request.once('close', () => reject(new Error(`${url} closed the connection without an answer`)));
  const response = await promise;
  if (response.statusCode !== 200) {
    response.destroy();
    throw new Error(`${url} answered ${response.statusCode}`);
  }
  return JSON.parse(await textOf(response, url));
};

const textOf = async (response: IncomingMessage, url: string): Promise<string> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > BYTES_MAX) throw new Error(`${url} answered more than ${BYTES_MAX} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
};
