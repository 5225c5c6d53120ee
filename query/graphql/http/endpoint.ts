import type { Request, Response } from 'express';
import { OperationTypeNode } from 'graphql';
import { createHandler } from 'graphql-http';
import { callerOf } from '#shared/http/authenticate/authenticate.ts';
import { takeMore } from '#shared/http/limit-rate.ts';
import { requestIdOf } from '#shared/http/request-context.ts';
import { namesOf, spanOf, traceparentOf } from '#shared/http/request-span.ts';
import { demandRoom } from '#shared/http/shed-load.ts';
import type { Log } from '#shared/process/log.ts';
import { idempotencyKeyOf } from '#shared/rest/writes/context.ts';
import { readFailureOf } from '../../statement.ts';
import { createFormatError } from '../errors.ts';
import type { Execute, Executed, RequestFacts } from '../execute.ts';
import type { Planner } from '../planner/planner.ts';
import { tellCommits } from '../resolvers/commits.ts';
import type { Admit, Runnable } from '../run.ts';
import type { Place } from '../subscriptions/connections.ts';
import type { Subscriptions } from '../subscriptions/service.ts';
import { type Answer, answerOf, type Outcome } from './answer.ts';
import type { GraphqlParameters } from './parameters.ts';

export type EndpointOptions = {
  readonly admit: Admit;
  readonly planner: Planner;
  readonly subscriptions: Subscriptions;
  readonly execute: Execute;
  readonly costMax: number;
  readonly log: Log;
};

/** A request, and where its answer goes. */
export type Exchange = {
  readonly request: Request;
  readonly response: Response;
  readonly parameters: GraphqlParameters;
  /** Of the operations that its method may bring. */
  readonly types: ReadonlySet<OperationTypeNode>;
  /** On the stream that the answer goes by, where it is not the answer to this request. */
  readonly place: Place | undefined;
};

/** An operation that was admitted, and by which request it came. */
type Running = { readonly runnable: Runnable; readonly exchange: Exchange };

/** As many units of cost as a request over REST is worth. */
export const COST_PER_UNIT = 50;
/** A subscription has already begun its own response. */
const BEGUN: Answer = [null, { status: 200, statusText: 'OK' }];

/**
 * `graphql-http` runs the steps of a request. `onSubscribe` returns the planner's answer; other operations
 * are executed.
 */
export const createEndpoint = (options: EndpointOptions): ((exchange: Exchange) => Promise<Answer>) => {
  const handle = createHandler<Exchange, undefined, Running>({
    parseRequestParams: ({ raw }) => raw.parameters,
    async onSubscribe({ raw: exchange }) {
      const runnable = await admit(options, exchange);
      if (typeOf(runnable) === OperationTypeNode.SUBSCRIPTION) {
        await options.subscriptions.begin(runnable, exchange, exchange.place);
        return BEGUN;
      }
      const running = { runnable, exchange };
      const data = await plan(options, runnable);
      if (data !== undefined) return answer(options, running, { data });
      const { prepared, operation } = runnable;
      return { ...prepared, operationName: operation.node.name?.value, contextValue: running };
    },
    execute: ({ contextValue }) => execute(options, contextValue as Running),
    onOperation: (_request, { contextValue }, executed) => {
      const running = contextValue as Running;
      return answer(options, running, outcomeOf(options, running, executed as Executed));
    },
  });
  return (exchange) => {
    const { method, url } = exchange.request;
    return handle({ method, url, headers: ANY_TYPE, body: null, raw: exchange, context: undefined });
  };
};

/** An earlier handler has already checked `Accept`, with its weights. */
const ANY_TYPE = {};

const typeOf = ({ operation }: Runnable): OperationTypeNode => operation.node.operation;

const admit = async (
  options: EndpointOptions,
  { request, response, parameters, types }: Exchange,
): Promise<Runnable> => {
  const runnable = await options.admit(parameters, callerOf(request), types);
  spanOf(request)?.set({
    'graphql.operation.type': typeOf(runnable),
    'graphql.operation.name': runnable.operation.node.name?.value,
  });
  // One unit was taken when the request came.
  const unitsMore = Math.ceil(runnable.cost / COST_PER_UNIT) - 1;
  if (unitsMore > 0) await takeMore(request, response, unitsMore);
  return runnable;
};

const plan = (
  { planner }: EndpointOptions,
  { prepared, operation, variables, coerced, caller }: Runnable,
): Promise<string | undefined> =>
  planner
    .plan({ document: prepared.document, operation: operation.node, variables, coerced, caller })
    .catch((cause: unknown) => {
      throw readFailureOf(cause);
    });

const execute = (
  options: EndpointOptions,
  { runnable, exchange: { request, response } }: Running,
): Promise<Executed> => {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const facts: RequestFacts = {
    requestId: requestIdOf(request),
    trace: traceparentOf(request),
    idempotencyKey: idempotencyKeyOf(request),
    charge: (units) => takeMore(request, response, units),
    headers: request.headers,
    signal: gone.signal,
  };
  return options.execute(runnable, facts);
};

const outcomeOf = (
  { log }: EndpointOptions,
  { runnable, exchange }: Running,
  { data, errors, fates }: Executed,
): Outcome => {
  const shown = errors?.map(createFormatError(log, namesOf(exchange.request)));
  const isMutation = typeOf(runnable) === OperationTypeNode.MUTATION;
  return {
    ...(data !== undefined && { data: JSON.stringify(data) }),
    ...(shown && { errors: isMutation ? shown.map((error) => tellCommits(fates, error)) : shown }),
    ...(fates.length > 0 && { mutation: fates }),
  };
};

const answer = (
  { costMax }: EndpointOptions,
  { runnable, exchange: { request } }: Running,
  outcome: Outcome,
): Answer => {
  // What was done must be told of, however large the answer.
  if (typeOf(runnable) === OperationTypeNode.QUERY) demandRoom(request, outcome.data?.length ?? 0);
  return answerOf(request, {
    ...outcome,
    cost: { requestedQueryCost: runnable.cost, maximumQueryCost: costMax },
  });
};
