import type { GraphQLFormattedError } from 'graphql';
import { MessageType } from 'graphql-ws';
import * as z from 'zod';
import { parseJson } from '#edge/http/parse-json.ts';
import { type Problem, problemOf } from '#edge/http/problem.ts';
import { parsePlainly } from '#kernel/base/plain-issues.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { fieldErrorsOf } from '#shared/json-pointers.ts';
import { resultIn } from '../subscriptions/cohort.ts';

/**
 * Messages of the GraphQL over WebSocket Protocol
 * (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md).
 */

const ID_CHARACTERS_MAX = 200;

const Payload = z.record(z.string(), z.unknown()).nullish();

const ClientMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal(MessageType.ConnectionInit), payload: Payload }),
  z.object({ type: z.literal(MessageType.Ping), payload: Payload }),
  z.object({ type: z.literal(MessageType.Pong), payload: Payload }),
  z.object({
    type: z.literal(MessageType.Subscribe),
    id: z.string().min(1).max(ID_CHARACTERS_MAX),
    payload: z.record(z.string(), z.unknown()),
  }),
  z.object({ type: z.literal(MessageType.Complete), id: z.string().min(1).max(ID_CHARACTERS_MAX) }),
]);

export type ClientMessage = z.output<typeof ClientMessage>;

/** A message of a client; throws a problem if it is none of the protocol. */
export const readMessage = (text: string): ClientMessage => {
  const given = parseJson(text);
  const parsed = parsePlainly(ClientMessage, given);
  if (parsed.success) return parsed.data;
  throw new HttpProblem('malformed_request', {
    detail: 'This is no message of graphql-transport-ws.',
    extensions: { errors: fieldErrorsOf(parsed.error, given) },
  });
};

export const ACKNOWLEDGED = JSON.stringify({ type: MessageType.ConnectionAck });
export const PONG = JSON.stringify({ type: MessageType.Pong });

const idOf = (id: string): string => JSON.stringify(id);

/** The result of a query or a mutation, as JSON text. */
export const resultOf = (id: string, result: string): string =>
  `{"id":${idOf(id)},"type":"next","payload":${result}}`;

/** The message of a subscription to subscribers by SSE, with its cursor in the extensions. */
export const resultFrom = (id: string, message: Buffer): Buffer => {
  const cursor = cursorIn(message);
  const extensions = cursor === undefined ? '' : `"extensions":{"cursor":${JSON.stringify(cursor)}},`;
  return Buffer.concat([
    Buffer.from(`{"id":${idOf(id)},"type":"next","payload":{${extensions}`),
    resultIn(message).subarray(OPENING.length),
    CLOSING,
  ]);
};

const OPENING = '{';
const CLOSING = Buffer.from('}');
const CURSOR = '\nid: ';
const DATA = '\ndata: ';

const cursorIn = (message: Buffer): string | undefined => {
  const end = message.indexOf(DATA);
  const start = message.subarray(0, end).indexOf(CURSOR);
  return start < 0 ? undefined : message.toString('utf8', start + CURSOR.length, end);
};

/** There was nothing for the operation up to this cursor. The protocol has no other message with room for it. */
export const movedTo = (id: string, cursor: string): string =>
  JSON.stringify({ type: MessageType.Ping, payload: { id, cursor } });

export const completeOf = (id: string): string => JSON.stringify({ id, type: MessageType.Complete });

/** The operation did not run, or cannot go on. */
export const errorOf = (id: string, errors: readonly GraphQLFormattedError[]): string =>
  JSON.stringify({ id, type: MessageType.Error, payload: errors });

const REASON_BYTES_MAX = 123;
const GOING_AWAY = 1001;
const APPLICATION = 4_000;
const UNAUTHENTICATED = 401;
const FORBIDDEN = 403;

/** The code and the reason with which a connection closes. */
export type Closing = { readonly code: number; readonly reason: string };

/** Clients connect again, to another process or the next. */
export const STOPPING: Closing = { code: GOING_AWAY, reason: 'The server stops: connect again.' };

/** 4000 and the status that a response would have. */
export const closingOf = (error: unknown): Closing => closingBy(problemOf(error));

/** Access that ends later closes with 4403: clients connect again, with a new token. */
export const closingLater = (error: unknown): Closing => {
  const problem = problemOf(error);
  return closingBy(problem.status === UNAUTHENTICATED ? { ...problem, status: FORBIDDEN } : problem);
};

const closingBy = ({ status, body: { code, title, detail = title } }: Problem): Closing =>
  closingWith(status, `${code}: ${detail}`);

export const closingWith = (status: number, text: string): Closing => ({
  code: APPLICATION + status,
  reason: withinBytes(text),
});

const withinBytes = (text: string): string => {
  const bytes = Buffer.from(text);
  if (bytes.length <= REASON_BYTES_MAX) return text;
  // Half a character at the end would not be UTF-8.
  return bytes.toString('utf8', 0, REASON_BYTES_MAX).replace(/\uFFFD+$/, '');
};
