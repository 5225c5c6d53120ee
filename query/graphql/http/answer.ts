import { hash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { GraphQLFormattedError } from 'graphql';
import type { ResponseInit } from 'graphql-http';
import { TOKEN_HEADER_KEY, TOKEN_QUERY_KEY } from 'graphql-sse';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { answerIn, codingFor, isWorthCompressing } from '#edge/http/content-coding.ts';
import { demandMatch, isKnownToReader } from '#edge/http/entity-tag.ts';
import { demandPreferredType, preferredType } from '#edge/http/media-type.ts';
import { EVENT_STREAM_TYPE } from '../../sse/event-stream.ts';
import type { FieldFate } from '../resolvers/commits.ts';
import type { Note } from '../resolvers/notes.ts';
import { COMPLETE, resultMessage } from './messages.ts';

/**
 * The media type from before GraphQL had its own. Its clients look for errors in the body, not at the status.
 */
const LEGACY = 'application/json';
const CURRENT = 'application/graphql-response+json';
/** Without a preference, the answer has the type that clients have always expected. */
const MEDIA_TYPES = [LEGACY, CURRENT, EVENT_STREAM_TYPE] as const;
type MediaType = (typeof MEDIA_TYPES)[number];

/** Checked before anything is read. */
export const mediaTypeFor = (request: Request): MediaType => demandPreferredType(request, MEDIA_TYPES);

/** The media type of a refusal, which must be sent even if the client accepts none. */
const typeOfAnswer = (request: Request): MediaType => preferredType(request, MEDIA_TYPES) ?? LEGACY;

export const prefersEvents = (request: Request): boolean =>
  preferredType(request, MEDIA_TYPES) === EVENT_STREAM_TYPE;

/**
 * The token of the stream that shall carry the result, if it is not the answer to this request (GraphQL over
 * SSE, single connection mode).
 */
export const tokenOf = (request: Request): string | undefined => {
  const { [TOKEN_QUERY_KEY]: token } = request.query;
  return request.get(TOKEN_HEADER_KEY) ?? (typeof token === 'string' ? token : undefined);
};

/** The result of an operation. */
export type Outcome = {
  /** The JSON text of the data; absent if the operation did not run. */
  readonly data?: string;
  readonly errors?: readonly GraphQLFormattedError[];
  readonly cost?: { readonly requestedQueryCost: number; readonly maximumQueryCost: number };
  /** For a mutation: the fates of the root fields that ran. */
  readonly mutation?: readonly FieldFate[];
  readonly notes?: readonly Note[];
  /** The status, if a refusal has another reason than its document or variables. */
  readonly status?: number;
};

/** A response of `graphql-http`; without a text there is nothing to send. */
export type Answer = readonly [
  text: string | null,
  init: ResponseInit & { readonly isCompressible?: boolean },
];

/** The answer to a well-formed request (GraphQL over HTTP, section 6.4). */
export const answerOf = (request: Request, outcome: Outcome): Answer => {
  const { data, errors, mutation, status } = outcome;
  const preferred = typeOfAnswer(request);
  const text = textOf(outcome);
  // One result, and the end. Also for a refusal: SSE clients take an error status for a broken connection.
  if (preferred === EVENT_STREAM_TYPE && status === undefined)
    return [`${resultMessage(text)}${COMPLETE}`, initOf(200, EVENT_STREAM_TYPE, NO_STORE)];
  const type = preferred === EVENT_STREAM_TYPE ? LEGACY : preferred;
  const hasErrorStatus = type === CURRENT || tokenOf(request) !== undefined;
  const isKept = (request.method === 'GET' || request.method === 'HEAD') && data !== undefined && !errors;
  const kept = () => `${callerOf(request).kind === 'anonymous' ? 'public' : 'private'}, no-cache`;
  return [
    text,
    {
      ...initOf(
        status ?? (data === undefined && hasErrorStatus ? 400 : 200),
        type,
        isKept ? kept() : NO_STORE,
      ),
      // The answer to a mutation may contain a secret.
      isCompressible: mutation === undefined,
    },
  ];
};

const NO_STORE = 'no-store';
const VARY = 'Accept, Authorization';

const initOf = (status: number, type: MediaType, cacheControl: string): ResponseInit => ({
  status,
  statusText: '',
  headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': cacheControl },
});

export const sendAnswer = (request: Request, response: Response, [text, init]: Answer): void => {
  if (text === null) return;
  const { 'content-type': type = '', 'cache-control': cacheControl = NO_STORE } = init.headers ?? {};
  response.statusCode = init.status;
  // `vary` is needed only to merge with an earlier value, which is rare.
  if (response.hasHeader('Vary')) response.vary(VARY);
  else response.setHeader('Vary', VARY);
  response.setHeader('Cache-Control', cacheControl);
  if (cacheControl !== NO_STORE) return void sendWithTag(request, response, { text, type });
  response.setHeader('Content-Type', type);
  if (init.isCompressible && isWorthCompressing(text) && codingFor(request, response) !== 'identity')
    return void answerIn(request, response, { text }).send();
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
};

const sendWithTag = (
  request: Request,
  response: Response,
  { text, type }: { readonly text: string; readonly type: string },
): void => {
  const plainTag = `"${hash('sha256', `${type} ${text}`, 'base64url').slice(0, TAG_CHARACTERS)}"`;
  const { entityTag = plainTag, send } = answerIn(request, response, { text, entityTag: plainTag });
  demandMatch(request, entityTag);
  response.set('ETag', entityTag);
  if (isKnownToReader(request, entityTag)) return void response.status(304).end();
  response.setHeader('Content-Type', type);
  send();
};

const TAG_CHARACTERS = 22;

/** Concatenated as text, because the data often comes from the database as JSON text. */
const textOf = ({ data, errors, cost, mutation, notes }: Outcome): string => {
  const members = [
    ...(errors && errors.length > 0 ? [`"errors":${JSON.stringify(errors)}`] : []),
    ...(data === undefined ? [] : [`"data":${data}`]),
    ...(cost ? [`"extensions":${JSON.stringify({ cost, mutation, notes })}`] : []),
  ];
  return `{${members.join(',')}}`;
};
