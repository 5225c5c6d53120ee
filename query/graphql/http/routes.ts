import type { IncomingMessage } from 'node:http';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { OperationTypeNode } from 'graphql';
import { refuseOtherMethods } from '#shared/http/answer-errors.ts';
import { callerOf } from '#shared/http/authenticate/authenticate.ts';
import { readJsonBody } from '#shared/http/json-body.ts';
import { takeMore } from '#shared/http/limit-rate.ts';
import { requestIdOf } from '#shared/http/request-context.ts';
import { namesOf, spanOf, traceparentOf } from '#shared/http/request-span.ts';
import { demandRoom } from '#shared/http/shed-load.ts';
import type { ShortWay } from '#shared/http/short-way.ts';
import type { Log } from '#shared/process/log.ts';
import { idempotencyKeyOf } from '#shared/rest/writes/context.ts';
import { readFailureOf } from '../../statement.ts';
import { createFormatError } from '../errors.ts';
import type { Execute } from '../execute.ts';
import type { Planner } from '../planner/planner.ts';
import { tellCommits } from '../resolvers/commits.ts';
import type { Admit, Runnable } from '../run.ts';
import type { Subscriptions } from '../subscriptions/service.ts';
import { readMultipart } from '../uploads/read-multipart.ts';
import { answerGraphql, mediaTypeFor, type Outcome, textOf } from './answer.ts';
import { bodyParameters, type GraphqlParameters, queryParameters } from './parameters.ts';

export type GraphqlRoutesOptions = {
  readonly admit: Admit;
  readonly planner: Planner;
  readonly subscriptions: Subscriptions;
  readonly execute: Execute;
  readonly costMax: number;
  readonly bodyBytesMax: number;
  readonly log: Log;
  /** Runs before anything is read: whoever names a write waits until it can be seen. */
  readonly before: readonly RequestHandler[];
};

/** As many units of cost as a request over REST is worth. */
const COST_PER_UNIT = 50;
const QUERIES: ReadonlySet<OperationTypeNode> = new Set([OperationTypeNode.QUERY]);
const ALL: ReadonlySet<OperationTypeNode> = new Set(Object.values(OperationTypeNode));

export type GraphqlRoutes = { readonly routes: Router; readonly shortWay: Pick<ShortWay, 'takes' | 'handlers'> };

/** GraphQL over HTTP: queries by GET, all else by POST; and GraphQL over SSE. */
export const graphqlRoutes = (options: GraphqlRoutesOptions): GraphqlRoutes => {
  const { before, bodyBytesMax } = options;
  const get: RequestHandler = (request, response) => serve(options, { request, response, types: QUERIES }, queryParameters);
  const post: RequestHandler = (request, response) => serve(options, { request, response, types: ALL }, ({ body }) => bodyParameters(body));
  const fromJson: readonly RequestHandler[] = [...before, ...readJsonBody(bodyBytesMax, ['application/json']), post];
  const routes = Router()
    // First, because Express answers with what it finds in the next router alone.
    .options('/graphql', (_request, response) => void response.set('Allow', METHODS.join(', ')).status(204).end())
    .use(options.subscriptions.routes)
    .use('/graphql', demandMediaType)
    .get('/graphql', ...before, get)
    .post('/graphql', demandMultipart, ...before, readMultipart(bodyBytesMax), post)
    .post('/graphql', ...fromJson)
    .all('/graphql', refuseOtherMethods(...METHODS));
  return { routes, shortWay: { takes: isPlain, handlers: [demandMediaType, ...fromJson] } };
};

/** As clients send almost all of their requests. */
const isPlain = ({ method, url, headers }: IncomingMessage): boolean =>
  method === 'POST' && url === '/graphql' && headers['content-type']?.startsWith('application/json') === true;

const demandMediaType: RequestHandler = (request, _response, next) => {
  if (request.method !== 'OPTIONS') mediaTypeFor(request);
  next();
};

/** Whatever else it may be goes by the next route. */
const demandMultipart: RequestHandler = (request, _response, next) => next(request.is('multipart/form-data') ? undefined : 'route');

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'];

type Exchange = { readonly request: Request; readonly response: Response; readonly types: ReadonlySet<OperationTypeNode> };

const serve = async (
  options: GraphqlRoutesOptions,
  exchange: Exchange,
  parametersOf: (request: Request) => GraphqlParameters,
): Promise<void> => {
  const { request, response, types } = exchange;
  const parameters = parametersOf(request);
  using place = options.subscriptions.reserve(request, parameters.operationId);
  const runnable = await options.admit(parameters, callerOf(request), types);
  nameOperation(request, runnable);
  // One unit was taken when the request came.
  const unitsMore = Math.ceil(runnable.cost / COST_PER_UNIT) - 1;
  if (unitsMore > 0) await takeMore(request, response, unitsMore);
  if (runnable.operation.node.operation === OperationTypeNode.SUBSCRIPTION) await options.subscriptions.begin(runnable, exchange, place);
  else {
    const outcome = await run(options, exchange, runnable);
    // What was done must be told of, however large the answer.
    if (QUERIES.has(runnable.operation.node.operation)) demandRoom(request, outcome.data?.length ?? 0);
    if (place === undefined) return answerGraphql(request, response, outcome);
    place.answer(textOf(outcome));
  }
  if (place) response.status(202).end();
};

const nameOperation = (request: Request, { operation: { node } }: Runnable): void =>
  spanOf(request)?.set({ 'graphql.operation.type': node.operation, 'graphql.operation.name': node.name?.value });

const run = async (
  { planner, execute, costMax, log }: GraphqlRoutesOptions,
  { request, response }: Exchange,
  runnable: Runnable,
): Promise<Outcome> => {
  const { prepared, operation, variables, coerced, caller, cost } = runnable;
  const costs = { requestedQueryCost: cost, maximumQueryCost: costMax };
  const planned = await planner
    .plan({ document: prepared.document, operation: operation.node, variables, coerced, caller })
    .catch((cause: unknown) => {
      throw readFailureOf(cause);
    });
  if (planned !== undefined) return { data: planned, cost: costs };
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { headers } = request;
  const idempotencyKey = idempotencyKeyOf(request);
  const charge = (units: number): Promise<void> => takeMore(request, response, units);
  const { data, errors, fates } = await execute(runnable, {
    requestId: requestIdOf(request),
    trace: traceparentOf(request),
    idempotencyKey,
    charge,
    headers,
    signal: gone.signal,
  });
  const isMutation = operation.node.operation === OperationTypeNode.MUTATION;
  const shown = errors?.map(createFormatError(log, namesOf(request)));
  return {
    ...(data !== undefined && { data: JSON.stringify(data) }),
    ...(shown && { errors: isMutation ? shown.map((error) => tellCommits(fates, error)) : shown }),
    ...(fates.length > 0 && { mutation: fates }),
    cost: costs,
  };
};
