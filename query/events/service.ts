// Over 200 lines, because it is one endpoint: pages and streams of events, with what both share.
import { type Request, type RequestHandler, Router } from 'express';
import type { Registry } from 'prom-client';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import type { LastingAccess } from '#edge/authenticate/resource-server.ts';
import type { Health } from '#edge/http/health.ts';
import { takeMore } from '#edge/http/limit-rate.ts';
import { demandPreferredType } from '#edge/http/media-type.ts';
import { parametersOf } from '#edge/http/parameters.ts';
import type { Position } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { StreamSettings } from '#process/config.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import { createChangeOpener } from '#shared/change-stream/open-change.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { migrateEventIndex } from '#shared/event-index/event-index.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { Log } from '#shared/log.ts';
import { admit, type Caller } from '#shared/policy.ts';
import { EVENT_OPERATIONS, type EventFilter, followedEvents } from '#shared/rest/events.ts';
import type { Snapshots } from '#shared/snapshots/snapshots.ts';
import type { Tracing } from '#shared/tracing/tracing.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import { createPresentRights } from '#shared/visibility/present-rights.ts';
import { type Feed, openFeed } from '../changes/feed.ts';
import type { Cohort } from '../changes/renderings.ts';
import { createRoleWatch, type RoleWatch } from '../changes/role-watch.ts';
import { createSharedCohorts } from '../changes/shared-cohorts.ts';
import type { Proof } from '../proof.ts';
import { positionOfCursor } from '../rest/cursor-position.ts';
import type { Charge } from '../rest/meter.ts';
import type { Reads } from '../rest/read-routes.ts';
import { runPrepared } from '../rows/statement.ts';
import { EVENT_STREAM_TYPE, type EventStream } from '../sse/event-stream.ts';
import { type EventStreams, openEventStreams } from '../sse/event-streams.ts';
import { eventMessage } from '../sse/messages.ts';
import { StreamReader } from '../sse/stream-reader.ts';
import type { DeliveriesOf } from './deliveries.ts';
import { containsText, matcherOf, topicsFor } from './filter.ts';
import { eventReads } from './reads.ts';
import { recordedEventReads } from './recorded.ts';
import { createRepresentation, type RepresentEvent } from './representation.ts';
import { createTimes, type Times } from './times.ts';

export type EventDependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity' | 'namesEvents' | 'eventAt' | 'head' | 'read' | 'follow'>;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly changes: ChangeStream;
  readonly snapshots: Snapshots;
  /** Signals that the process begins to stop. */
  readonly health: Pick<Health, 'onDrain'>;
  /** Re-checks whether the caller of an open stream is still admitted. */
  readonly access: LastingAccess;
  readonly settings: StreamSettings;
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: Registry;
  /** Off unless given. */
  readonly tracing?: Tracing;
  /** Runs before every stream. */
  readonly before: readonly RequestHandler[];
  readonly proof: Pick<Proof, 'placeInChain'>;
  /** Undefined without webhooks. */
  readonly deliveriesOf?: DeliveriesOf | undefined;
};

/** The feed and the event streams, which `/events` and all other streams use. */
export type EventService = AsyncDisposable &
  Pick<RoleWatch, 'demandPresentRole'> & {
    readonly feed: Feed;
    readonly streams: EventStreams;
    /** Comes before the routes of reads, which serve the pages. */
    readonly routes: Router;
    readonly reads: Reads<'listEvents' | 'getRecordedEvent' | 'traceRecordedEvent'>;
  };

export const openEvents = async (dependencies: EventDependencies): Promise<EventService> => {
  const {
    domain,
    pool,
    eventLog,
    keys,
    changes,
    snapshots,
    health,
    access,
    settings,
    metrics,
    before,
    proof,
    deliveriesOf,
  } = dependencies;
  await migrateAudit(pool);
  await migrateEventIndex(pool);
  await using opening = new AsyncDisposableStack();
  const { receive, demandPresentRole } = createRoleWatch(domain, pool, access);
  const feed = opening.use(
    await openFeed({ ...dependencies, onReceived: receive, moveOnMs: settings.heartbeatMs }),
  );
  const streams = opening.use(
    openEventStreams({ ...settings, refusalNow: access.refusalNow, onRevoked: access.onRevoked, metrics }),
  );
  health.onDrain(() => streams.drain());
  const represent = createRepresentation({
    domain,
    log: eventLog,
    open: createChangeOpener(dependencies),
    isReadable: createPresentRights({ domain, run: (text, values) => runPrepared(pool, text, values) }),
  });
  const times = createTimes({ pool, eventLog });
  const routes = eventRoutes({
    domain,
    feed,
    streams,
    eventLog,
    times,
    represent,
    demandPresentRole,
    before,
  });
  const reading = { domain, pool, keys, changes, snapshots, eventLog, represent, proof, deliveriesOf };
  const resources = opening.move();
  return {
    feed,
    streams,
    demandPresentRole,
    routes,
    reads: { ...eventReads({ ...reading, times }), ...recordedEventReads(reading) },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

type Dependencies = {
  readonly domain: Domain;
  readonly feed: Feed;
  readonly streams: EventStreams;
  readonly eventLog: Pick<EventLog, 'identity' | 'eventAt' | 'head'>;
  readonly times: Times;
  readonly represent: RepresentEvent;
  readonly demandPresentRole: RoleWatch['demandPresentRole'];
  readonly before: readonly RequestHandler[];
};

/**
 * `GET /events` as server-sent events for clients that prefer them; other requests fall through to the pages.
 */
const eventRoutes = ({ before, ...dependencies }: Dependencies): Router => {
  const follow = createFollow(dependencies);
  const asked = followedEvents(catalogueOf(dependencies.domain));
  return Router().get(
    EVENT_OPERATIONS.listEvents.path,
    passOthers,
    demandEvents,
    ...before,
    async (request, response) => {
      const { after, since, ...filter } = parametersOf(asked, request.query);
      const start = await startPosition(
        request,
        { after, since, charge: (units) => takeMore(request, response, units) },
        dependencies,
      );
      response.vary('Accept, Authorization');
      if (request.method === 'HEAD')
        return void response.type(EVENT_STREAM_TYPE).set('Cache-Control', 'no-cache').end();
      await dependencies.demandPresentRole(request);
      follow(dependencies.streams.open(request, response), { filter, after: start });
    },
  );
};

const TYPES = ['application/json', 'application/hal+json', EVENT_STREAM_TYPE] as const;

const passOthers: RequestHandler = (request, _response, next) =>
  next(demandPreferredType(request, TYPES) === EVENT_STREAM_TYPE ? undefined : 'route');

const demandEvents: RequestHandler = (request, _response, next) => {
  const admission = admit(callerOf(request), EVENT_OPERATIONS.listEvents.right);
  if (admission !== 'allowed') throw admission;
  next();
};

/**
 * A client that reconnects repeats its first request, and sends its last position in the header
 * `Last-Event-ID`.
 */
const startPosition = async (
  request: Request,
  {
    after,
    since,
    charge,
  }: { readonly after: string | undefined; readonly since: string | undefined; readonly charge: Charge },
  { feed, eventLog, times }: Pick<Dependencies, 'feed' | 'eventLog' | 'times'>,
): Promise<Position | 'now'> => {
  const lastEventId = request.get('Last-Event-ID') || undefined;
  const text = lastEventId ?? after;
  if (text === undefined) return since === undefined ? 'now' : times.further(START, since, charge);
  const start = await positionOfCursor(text, {
    eventLog,
    known: feed.upTo,
    parameter: lastEventId === undefined ? 'after' : 'Last-Event-ID',
  });
  return times.further(start, since, charge);
};

type Asked = { readonly filter: EventFilter; readonly after: Position | 'now' };

const createFollow = ({
  domain,
  feed,
  eventLog,
  represent,
}: Pick<Dependencies, 'domain' | 'feed' | 'eventLog' | 'represent'>) => {
  const sharedCohortOf = createSharedCohorts();
  const cohortOf = (filter: EventFilter, caller: Caller): Cohort =>
    sharedCohortOf(JSON.stringify(['events', filter, ...readerKey(caller)]), () => {
      const matches = matcherOf(catalogueOf(domain), filter);
      const contains = filter.text === undefined ? () => true : containsText(filter.text);
      return {
        topics: topicsFor(domain, filter),
        async render(change, reader) {
          if (!matches(change, reader) || !maySee(reader, change)) return undefined;
          const event = await represent(change, reader);
          if (!contains(event.data)) return undefined;
          return eventMessage({ id: event.cursor, data: JSON.stringify(event) });
        },
      };
    });
  return (stream: EventStream, { filter, after }: Asked): void => {
    const caller = callerOf(stream.request);
    const reader = new StreamReader(stream, {
      cohort: cohortOf(filter, caller),
      caller,
      after,
      eventLog,
    });
    const membership = feed.join(reader);
    stream.onClose(() => membership[Symbol.dispose]());
  };
};

const readerKey = (caller: Caller): readonly unknown[] =>
  caller.kind === 'user' ? [caller.role, [...caller.scopes].toSorted(), caller.attributes] : [caller.kind];
