import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { LastingAccess } from '#edge/authenticate/resource-server.ts';
import { preferredType } from '#edge/http/media-type.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Log } from '#shared/log.ts';
import type { Feed } from '../../changes/feed.ts';
import type { RoleWatch } from '../../changes/role-watch.ts';
import { EVENT_STREAM_TYPE, type EventStream } from '../../sse/event-stream.ts';
import { type EventStreams, ownerOf } from '../../sse/event-streams.ts';
import { outletTo, StreamReader } from '../../sse/stream-reader.ts';
import type { ViewFeed } from '../../views/feed.ts';
import type { Runnable } from '../documents/run.ts';
import type { Execute } from '../execute.ts';
import { prefersEvents, tokenOf } from '../http/answer.ts';
import { closingMessage } from '../http/messages.ts';
import type { Planner } from '../planner/planner.ts';
import { createCohorts } from './cohort.ts';
import { createToken, openConnections, type Slot } from './connections.ts';
import { createSubscribe, type Subscription } from './follow.ts';
import { createMemoryBudget } from './memory-budget.ts';
import { createSubscribeToView, type Outlet } from './views.ts';

export type SubscriptionDependencies = {
  readonly domain: Domain;
  readonly feed: Feed;
  readonly views: ViewFeed;
  readonly streams: EventStreams;
  readonly eventLog: Pick<EventLog, 'identity' | 'namesEvents' | 'eventAt' | 'head'>;
  /** Re-checks whether the caller is still admitted. */
  readonly access: LastingAccess;
  readonly demandPresentRole: RoleWatch['demandPresentRole'];
  readonly planner: Pick<Planner, 'plan'>;
  readonly execute: Execute;
  readonly log: Log;
};

/** GraphQL over SSE: streams of subscriptions, and one stream for all operations of a client. */
export type Subscriptions = Disposable & {
  /** The routes to reserve such a stream, open it, and stop its operations. */
  readonly routes: Router;
  /** A slot on the stream that a request names; undefined if its own response carries the result. */
  reserve(request: Request, operationId: string | undefined): Slot | undefined;
  /** Begins to deliver to a slot of another interface. */
  join(subscription: Subscription, outlet: Outlet): Disposable;
  /** Begins a subscription: on the stream with the reserved slot, or as the response. */
  begin(runnable: Runnable, exchange: Exchange, slot: Slot | undefined): Promise<void>;
};

type Exchange = { readonly request: Request; readonly response: Response };

export const openSubscriptions = (dependencies: SubscriptionDependencies): Subscriptions => {
  const { feed, views, streams, eventLog, demandPresentRole } = dependencies;
  const subscribe = createSubscribe({
    ...dependencies,
    cohortOf: createCohorts(dependencies),
    subscribeToView: createSubscribeToView(dependencies),
  });
  const join = (subscription: Subscription, outlet: Outlet): Disposable =>
    'readerTo' in subscription
      ? views.follow(subscription.readerTo(outlet))
      : feed.join({ ...subscription, ...outlet });
  const joinAlone = (subscription: Subscription, stream: EventStream): Disposable =>
    'readerTo' in subscription
      ? join(subscription, outletTo(stream, subscription.cursorAt))
      : feed.join(new StreamReader(stream, { ...subscription, eventLog }));
  const connections = openConnections({ ...dependencies, join });
  const memoryBudget = createMemoryBudget();
  return {
    routes: connectionRoutes(connections),
    join,
    reserve(request, operationId) {
      const token = tokenOf(request);
      return token === undefined || prefersEvents(request)
        ? undefined
        : connections.reserve(token, operationId, request);
    },
    async begin(runnable, { request, response }, slot) {
      const subscription = await subscribe(runnable, request);
      if (!slot) demandEventStream(request);
      await demandPresentRole(request);
      using taking = new DisposableStack();
      const kept = taking.use(memoryBudget.take(ownerOf(request), runnable));
      if (slot) return slot.follow(subscription, taking.move());
      const stream = streams.open(request, response, { closingMessage });
      const membership = joinAlone(subscription, stream);
      taking.move();
      stream.onClose(() => {
        membership[Symbol.dispose]();
        kept[Symbol.dispose]();
      });
    },
    [Symbol.dispose]: () => connections[Symbol.dispose](),
  };
};

const EVENT_STREAM_ALONE = [EVENT_STREAM_TYPE] as const;

/**
 * A client gets an event stream if it accepts one at all, even if it prefers another type: there is no other
 * representation.
 */
const demandEventStream = (request: Request): void => {
  if (preferredType(request, EVENT_STREAM_ALONE) === undefined)
    throw new HttpProblem('not_acceptable', {
      detail: `A subscription returns ${EVENT_STREAM_TYPE}: accept this type.`,
    });
};

const connectionRoutes = (connections: ReturnType<typeof openConnections>): Router => {
  const open: RequestHandler = (request, response, next) => {
    const token = tokenOf(request);
    if (token === undefined || !prefersEvents(request)) return next();
    if (request.method === 'HEAD')
      return void response.type(EVENT_STREAM_TYPE).set('Cache-Control', 'no-store').end();
    connections.open(token, request, response);
  };
  return Router()
    .put('/graphql', (_request, response) => {
      response.status(201).set('Cache-Control', 'no-store').type('text/plain').send(createToken());
    })
    .get('/graphql', open)
    .delete('/graphql', (request, response) => {
      const { operationId } = request.query;
      if (typeof operationId !== 'string')
        throw new HttpProblem('malformed_request', {
          detail: 'Give the id of the operation as operationId.',
        });
      connections.stop(tokenOf(request) ?? '', operationId, request);
      response.status(200).end();
    });
};
