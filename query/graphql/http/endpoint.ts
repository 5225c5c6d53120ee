import type { Request, Response } from 'express';
import { OperationTypeNode } from 'graphql';
import { createHandler } from 'graphql-http';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { takeMore } from '#edge/http/limit-rate.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import { namesOf, spanOf, traceparentOf } from '#edge/http/request-span.ts';
import { demandRoom } from '#edge/http/shed-load.ts';
import { nameRecorded, recorded } from '#edge/read-log/recorded.ts';
import { idempotencyKeyOf } from '#edge/rest/writes/context.ts';
import type { Log } from '#shared/log.ts';
import { readFailureOf } from '../../rows/statement.ts';
import type { Admit, Runnable } from '../documents/run.ts';
import type { Execute, Executed, RequestFacts } from '../execute.ts';
import type { Planner } from '../planner/planner.ts';
import { addCommits } from '../resolvers/commits.ts';
import { createFormatError } from '../rules/errors.ts';
import type { Slot } from '../subscriptions/connections.ts';
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

/** A request, and the response that its answer goes to. */
export type Exchange = {
  readonly request: Request;
  readonly response: Response;
  readonly parameters: GraphqlParameters;
  /** The operation types that the method allows. */
  readonly types: ReadonlySet<OperationTypeNode>;
  /** A slot on the stream that carries the result, if this response does not. */
  readonly slot: Slot | undefined;
};

/** An admitted operation with its request. */
type Running = { readonly runnable: Runnable; readonly exchange: Exchange };

/** A REST request costs one unit, and this much cost is another. */
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
        await options.subscriptions.begin(runnable, exchange, exchange.slot);
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
    return recorded(exchange.request, () =>
      handle({ method, url, headers: ANY_TYPE, body: null, raw: exchange, context: undefined }),
    );
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
  nameRecorded(request, {
    via: 'graphql',
    operation: runnable.operation.node.name?.value ?? typeOf(runnable),
    query: { document: runnable.prepared.hash },
  });
  // The first unit was charged when the request arrived.
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
  { data, errors, fates, notes }: Executed,
): Outcome => {
  const shown = errors?.map(createFormatError(log, namesOf(exchange.request)));
  const isMutation = typeOf(runnable) === OperationTypeNode.MUTATION;
  return {
    ...(data !== undefined && { data: JSON.stringify(data) }),
    ...(shown && { errors: isMutation ? shown.map((error) => addCommits(fates, error)) : shown }),
    ...(fates.length > 0 && { mutation: fates }),
    ...(notes.length > 0 && { notes }),
  };
};

const answer = (
  { costMax }: EndpointOptions,
  { runnable, exchange: { request } }: Running,
  outcome: Outcome,
): Answer => {
  // Mutations always get their answer, however large, because they have happened.
  if (typeOf(runnable) === OperationTypeNode.QUERY) demandRoom(request, outcome.data?.length ?? 0);
  return answerOf(request, {
    ...outcome,
    cost: { requestedQueryCost: runnable.cost, maximumQueryCost: costMax },
  });
};
