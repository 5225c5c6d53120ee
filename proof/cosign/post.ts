import type { IncomingMessage } from 'node:http';
import { request as requestByTls } from 'node:https';
import { request as requestPlainly } from '#edge/http/node-http.ts';

type Posted = {
  readonly type: string;
  readonly body: string | Buffer;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
};

/** The name of the address is all that is said of a server: an address may have a path that is not for everybody. */
export type Reply = { readonly status: number; readonly body: Buffer };

/** Sends a body, and follows no redirect. It throws a sentence if there is no answer within these limits. */
export const post = async (
  url: string,
  { type, body, timeoutMs, bytesMax, signal }: Posted,
): Promise<Reply> => {
  const timeout = AbortSignal.timeout(timeoutMs);
  const options = {
    method: 'POST',
    headers: { 'content-type': type, 'content-length': Buffer.byteLength(body) },
    signal: AbortSignal.any([signal, timeout]),
  };
  try {
    const response = await answerOf(url, options, body);
    return { status: response.statusCode ?? 0, body: await bodyOf(response, bytesMax) };
  } catch (error) {
    if (error instanceof TooLong) throw error;
    if (timeout.aborted) throw new Error(`It did not answer within ${timeoutMs / 1_000} seconds.`);
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`It cannot be reached: ${code ?? message}.`, { cause: error });
  }
};

const answerOf = async (
  url: string,
  options: Parameters<typeof requestPlainly>[1] & object,
  body: string | Buffer,
): Promise<IncomingMessage> => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const isByTls = new URL(url).protocol === 'https:';
  const request = (isByTls ? requestByTls : requestPlainly)(url, options, resolve).once('error', reject);
  // A server that wants to speak another protocol causes neither an answer nor an error.
  request.once('close', () => reject(new Error('it closed the connection')));
  request.end(body);
  return promise;
};

const bodyOf = async (response: IncomingMessage, bytesMax: number): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > bytesMax) throw new TooLong(bytesMax);
    parts.push(part);
  }
  return Buffer.concat(parts);
};

class TooLong extends Error {
  constructor(bytesMax: number) {
    super(`It answered with more than ${bytesMax} bytes.`);
    this.name = 'TooLong';
  }
}
