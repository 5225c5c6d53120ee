import { type Request, type RequestHandler, Router } from 'express';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Position } from '#shared/brands.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { callerOf } from '#shared/http/authenticate/authenticate.ts';
import { takeMore } from '#shared/http/limit-rate.ts';
import { demandPreferredType } from '#shared/http/media-type.ts';
import { parametersOf } from '#shared/http/parameters.ts';
import { admit, type Caller } from '#shared/policy.ts';
import { EVENT_OPERATIONS, type EventFilter, followedEvents } from '#shared/rest/events.ts';
import { mayKnow } from '#shared/visibility/may-know.ts';
import type { Charge } from '../as-of/meter.ts';
import type { Feed } from '../changes/feed.ts';
import type { Cohort } from '../changes/renderings.ts';
import type { RoleWatch } from '../changes/role-watch.ts';
import { createSharedCohorts } from '../changes/shared-cohorts.ts';
import { EVENT_STREAM_TYPE, type EventStream } from '../sse/event-stream.ts';
import type { EventStreams } from '../sse/event-streams.ts';
import { eventMessage } from '../sse/messages.ts';
import { StreamReader } from '../sse/stream-reader.ts';
import { askedBy, topicsFor } from './filter.ts';
import { placeOf } from './place.ts';
import type { RepresentEvent } from './representation.ts';
import type { Times } from './times.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly feed: Feed;
  readonly streams: EventStreams;
  readonly eventLog: Pick<EventLog, 'identity' | 'head'>;
  readonly times: Times;
  readonly represent: RepresentEvent;
  readonly demandPresentRole: RoleWatch['demandPresentRole'];
  readonly before: readonly RequestHandler[];
};

/** `GET /events` as server-sent events, for whoever prefers them; all others go on to the pages. */
export const eventRoutes = ({ before, ...dependencies }: Dependencies): Router => {
  const follow = createFollow(dependencies);
  const asked = followedEvents(catalogueOf(dependencies.domain));
  return Router().get(EVENT_OPERATIONS.listEvents.path, passOthers, demandEvents, ...before, async (request, response) => {
    const { after, since, ...filter } = parametersOf(asked, request.query);
    const place = await placeAskedFor(request, { after, since, charge: (units) => takeMore(request, response, units) }, dependencies);
    response.vary('Accept, Authorization');
    if (request.method === 'HEAD') return void response.type(EVENT_STREAM_TYPE).set('Cache-Control', 'no-cache').end();
    await dependencies.demandPresentRole(request);
    follow(dependencies.streams.open(request, response), { filter, after: place });
  });
};

const TYPES = ['application/json', 'application/hal+json', EVENT_STREAM_TYPE] as const;

const passOthers: RequestHandler = (request, _response, next) =>
  next(demandPreferredType(request, TYPES) === EVENT_STREAM_TYPE ? undefined : 'route');

const demandEvents: RequestHandler = (request, _response, next) => {
  const admission = admit(callerOf(request), EVENT_OPERATIONS.listEvents.right);
  if (admission !== 'allowed') throw admission;
  next();
};

/** A client that comes again sends what it had asked for at first once more, and in the header how far it has come since. */
const placeAskedFor = async (
  request: Request,
  { after, since, charge }: { readonly after: string | undefined; readonly since: string | undefined; readonly charge: Charge },
  { feed, eventLog, times }: Pick<Dependencies, 'feed' | 'eventLog' | 'times'>,
): Promise<Position | 'now'> => {
  const lastEventId = request.get('Last-Event-ID') || undefined;
  const text = lastEventId ?? after;
  if (text === undefined) return since === undefined ? 'now' : times.further(START, since, charge);
  const place = await placeOf(text, { eventLog, known: feed.upTo, parameter: lastEventId === undefined ? 'after' : 'Last-Event-ID' });
  return times.further(place, since, charge);
};

type Asked = { readonly filter: EventFilter; readonly after: Position | 'now' };

const createFollow = ({ domain, feed, eventLog, represent }: Pick<Dependencies, 'domain' | 'feed' | 'eventLog' | 'represent'>) => {
  const sharedCohortOf = createSharedCohorts();
  const cohortOf = (filter: EventFilter, caller: Caller): Cohort =>
    sharedCohortOf(JSON.stringify(['events', filter, ...kindOf(caller)]), () => {
      const isAskedFor = askedBy(catalogueOf(domain), filter);
      return {
        topics: topicsFor(domain, filter),
        async render(change, reader) {
          if (!isAskedFor(change) || !mayKnow(reader, change)) return undefined;
          const event = await represent(change, reader);
          return eventMessage({ id: event.cursor, data: JSON.stringify(event) });
        },
      };
    });
  return (stream: EventStream, { filter, after }: Asked): void => {
    const caller = callerOf(stream.request);
    const reader = new StreamReader(stream, { cohort: cohortOf(filter, caller), caller, after, identity: eventLog.identity });
    const membership = feed.join(reader);
    stream.onClose(() => membership[Symbol.dispose]());
  };
};

const kindOf = (caller: Caller): readonly unknown[] =>
  caller.kind === 'user' ? [caller.role, [...caller.scopes].toSorted()] : [caller.kind];
