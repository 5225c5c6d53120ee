import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, RequestListener } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Request } from 'express';
import { actAsCallerOf } from '#edge/authenticate/authenticate.ts';
import { answerBrokenRequest } from '#edge/http/broken-request.ts';
import { createServer, request as sendRequest } from '#edge/http/node-http.ts';
import { markToolCall } from '#edge/http/tool-call.ts';
import type { JsonObject } from '#kernel/base/json.ts';

export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonObject | undefined;
  readonly signal: AbortSignal;
};

export type Answered = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
};

/** The largest request line and headers that the interface reads. */
type Limits = { readonly headerBytesMax: number };

/**
 * Asks the REST interface within the process, as the caller of another request, with their rights and their rate
 * limit. So a tool is the operation itself. Nothing leaves the process: both ends of the connection are here.
 */
export const ask = async (
  outer: Request,
  { method, path, headers, body, signal }: Asked,
  { headerBytesMax }: Limits,
): Promise<Answered> => {
  const serve: RequestListener = (inner, response) => {
    actAsCallerOf(inner, outer);
    markToolCall(inner);
    outer.app(inner, response);
  };
  const content = body === undefined ? undefined : JSON.stringify(body);
  const sent = sendRequest({
    ...{ method, path, signal },
    // Only now are the headers known to be valid.
    createConnection: () => {
      const [near, far] = duplexPair();
      createServer({ maxHeaderSize: headerBytesMax }, serve)
        .on('clientError', answerBrokenRequest)
        .emit('connection', asSocket(far, outer));
      near.once('close', () => far.destroy());
      return near as never;
    },
    headers: {
      Host: outer.headers.host ?? 'localhost',
      ...headers,
      ...(content !== undefined && {
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(content)),
      }),
    },
  });
  // One that comes after the response has begun is an error of its body as well.
  sent.on('error', () => {});
  sent.end(content);
  const answer = await answerTo(sent);
  return { status: answer.statusCode ?? 0, headers: answer.headers, text: await text(answer) };
};

/** With what the interface asks of a socket. Its timeouts are those of the outer request. */
const asSocket = (far: Duplex, outer: Request): Duplex =>
  Object.assign(far, {
    remoteAddress: outer.socket.remoteAddress,
    bytesRead: 0,
    setTimeout: () => far,
  });

const answerTo = async (sent: ClientRequest): Promise<IncomingMessage> => {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer;
};
