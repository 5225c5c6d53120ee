import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { GraphQLFormattedError } from 'graphql';
import { callerOf } from '#shared/http/authenticate/authenticate.ts';
import { answerIn, codingFor, isWorthCompressing } from '#shared/http/content-coding.ts';
import { isKnownToReader } from '#shared/http/entity-tag.ts';
import { demandPreferredType, preferredType } from '#shared/http/media-type.ts';
import { EVENT_STREAM_TYPE } from '../../sse/event-stream.ts';
import type { FieldFate } from '../resolvers/commits.ts';
import { COMPLETE, resultMessage } from '../subscriptions/messages.ts';

/** The one of before GraphQL had its own; with it, clients look for errors in the body and not at the status. */
const LEGACY = 'application/json';
const CURRENT = 'application/graphql-response+json';
/** Who does not say is answered as clients have always been. */
const MEDIA_TYPES = [LEGACY, CURRENT, EVENT_STREAM_TYPE] as const;
type MediaType = (typeof MEDIA_TYPES)[number];

/** Demanded before anything is read. */
export const mediaTypeFor = (request: Request): MediaType => demandPreferredType(request, MEDIA_TYPES);

/** Of a refusal, which has to be told somehow. */
const typeOfAnswer = (request: Request): MediaType => preferredType(request, MEDIA_TYPES) ?? LEGACY;

export const prefersEvents = (request: Request): boolean => preferredType(request, MEDIA_TYPES) === EVENT_STREAM_TYPE;

/** Of the stream that the answer is to come by, which is not the answer to this request (GraphQL over SSE, single connection mode). */
export const tokenOf = (request: Request): string | undefined => {
  const { token } = request.query;
  return request.get('X-GraphQL-Event-Stream-Token') ?? (typeof token === 'string' ? token : undefined);
};

/** What an operation came to. */
export type Outcome = {
  /** The JSON text of the data; absent where the operation never ran. */
  readonly data?: string;
  readonly errors?: readonly GraphQLFormattedError[];
  readonly cost?: { readonly requestedQueryCost: number; readonly maximumQueryCost: number };
  /** Of a mutation: what became of the root fields that ran. */
  readonly mutation?: readonly FieldFate[];
  /** Of what was refused for another reason than its document or variables. */
  readonly status?: number;
};

/** The answer to a well-formed request (GraphQL over HTTP, section 6.4). */
export const answerGraphql = (request: Request, response: Response, outcome: Outcome): void => {
  const preferred = typeOfAnswer(request);
  if (preferred === EVENT_STREAM_TYPE && outcome.status === undefined) return void answerByEvents(response, outcome);
  const type = preferred === EVENT_STREAM_TYPE ? LEGACY : preferred;
  const text = textOf(outcome);
  const isRefused = outcome.data === undefined;
  const isToldByStatus = type === CURRENT || tokenOf(request) !== undefined;
  response.status(outcome.status ?? (isRefused && isToldByStatus ? 400 : 200)).vary('Accept, Authorization');
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead || isRefused || outcome.errors) {
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('Content-Type', `${type}; charset=utf-8`);
    // A mutation may show a secret.
    if (outcome.mutation === undefined && isWorthCompressing(text) && codingFor(request, response) !== 'identity') {
      answerIn(request, response, { text }).send();
      return;
    }
    response.setHeader('Content-Length', Buffer.byteLength(text));
    return void response.end(text);
  }
  const plainTag = `"${createHash('sha256').update(`${type} ${text}`).digest('base64url').slice(0, TAG_CHARACTERS)}"`;
  const { entityTag = plainTag, send } = answerIn(request, response, { text, entityTag: plainTag });
  response.set({ ETag: entityTag, 'Cache-Control': `${callerOf(request).kind === 'anonymous' ? 'public' : 'private'}, no-cache` });
  if (isKnownToReader(request, entityTag)) response.status(304).end();
  else {
    response.type(type);
    send();
  }
};

const TAG_CHARACTERS = 22;

/** The one result, and that it is the last. A refusal as well: clients take a status that is none of success for a broken connection. */
const answerByEvents = (response: Response, outcome: Outcome): void => {
  response.status(200).vary('Accept, Authorization');
  response.set({ 'Content-Type': `${EVENT_STREAM_TYPE}; charset=utf-8`, 'Cache-Control': 'no-store' });
  response.end(Buffer.concat([resultMessage(textOf(outcome)), COMPLETE]));
};

/** Put together as text, because the data often comes from the database as that. */
export const textOf = ({ data, errors, cost, mutation }: Outcome): string => {
  const members = [
    ...(errors && errors.length > 0 ? [`"errors":${JSON.stringify(errors)}`] : []),
    ...(data === undefined ? [] : [`"data":${data}`]),
    ...(cost ? [`"extensions":${JSON.stringify({ cost, mutation })}`] : []),
  ];
  return `{${members.join(',')}}`;
};
