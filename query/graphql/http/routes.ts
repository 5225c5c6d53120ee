import type { IncomingMessage } from 'node:http';
import { type RequestHandler, Router } from 'express';
import { OperationTypeNode } from 'graphql';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import type { FastPath } from '#edge/http/fast-path.ts';
import { readJsonBody } from '#edge/http/json-body.ts';
import { recordNow } from '#edge/read-log/recorded.ts';
import type { Subscriptions } from '../subscriptions/service.ts';
import { readMultipart } from '../uploads/read-multipart.ts';
import { mediaTypeFor, sendAnswer } from './answer.ts';
import { createEndpoint, type EndpointOptions, type Exchange } from './endpoint.ts';
import { bodyParameters, type GraphqlParameters, queryParameters } from './parameters.ts';

type GraphqlRoutesOptions = EndpointOptions & {
  readonly bodyBytesMax: number;
  /** The size of the largest file that a mutation accepts. */
  readonly fileBytesMax: number;
  /** Runs before anything is read: a request with a Consistency-Token waits here. */
  readonly before: readonly RequestHandler[];
};

const QUERIES: ReadonlySet<OperationTypeNode> = new Set([OperationTypeNode.QUERY]);
const ALL: ReadonlySet<OperationTypeNode> = new Set(Object.values(OperationTypeNode));

type GraphqlRoutes = {
  readonly routes: Router;
  readonly fastPath: Pick<FastPath, 'takes' | 'handlers'>;
};

/** GraphQL over HTTP: queries by GET, everything by POST; and GraphQL over SSE. */
export const graphqlRoutes = (options: GraphqlRoutesOptions): GraphqlRoutes => {
  const { before, bodyBytesMax, fileBytesMax } = options;
  const served = { endpoint: createEndpoint(options), subscriptions: options.subscriptions };
  const get: RequestHandler = (request, response) =>
    serve(served, { request, response, types: QUERIES }, queryParameters(request));
  const post: RequestHandler = (request, response) =>
    serve(served, { request, response, types: ALL }, bodyParameters(request.body));
  const fromJson: readonly RequestHandler[] = [
    ...before,
    ...readJsonBody(bodyBytesMax, ['application/json']),
    post,
  ];
  const routes = Router()
    // First, because Express answers OPTIONS from the next router alone.
    .options(
      '/graphql',
      (_request, response) => void response.set('Allow', METHODS.join(', ')).status(204).end(),
    )
    .use(options.subscriptions.routes)
    .use('/graphql', demandMediaType)
    .get('/graphql', ...before, get)
    .post('/graphql', demandMultipart, ...before, readMultipart(bodyBytesMax, fileBytesMax), post)
    .post('/graphql', ...fromJson)
    .all('/graphql', refuseOtherMethods(...METHODS));
  return { routes, fastPath: { takes: isPlain, handlers: [demandMediaType, ...fromJson] } };
};

/** True for the form of nearly all requests. */
const isPlain = ({ method, url, headers }: IncomingMessage): boolean =>
  method === 'POST' && url === '/graphql' && headers['content-type']?.startsWith('application/json') === true;

const demandMediaType: RequestHandler = (request, _response, next) => {
  if (request.method !== 'OPTIONS') mediaTypeFor(request);
  next();
};

/** Other media types go to the next route. */
const demandMultipart: RequestHandler = (request, _response, next) =>
  next(request.is('multipart/form-data') ? undefined : 'route');

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'];

type Served = { readonly endpoint: ReturnType<typeof createEndpoint>; readonly subscriptions: Subscriptions };

const serve = async (
  { endpoint, subscriptions }: Served,
  exchange: Pick<Exchange, 'request' | 'response' | 'types'>,
  parameters: GraphqlParameters,
): Promise<void> => {
  const { request, response } = exchange;
  using slot = subscriptions.reserve(request, parameters.operationId);
  const answer = await endpoint({ ...exchange, parameters, slot });
  if (!slot) return sendAnswer(request, response, answer);
  const [text] = answer;
  await recordNow(request);
  if (text !== null) slot.answer(text);
  response.status(202).end();
};
