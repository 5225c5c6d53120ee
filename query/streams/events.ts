import { type Request, type RequestHandler, Router } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { takeMore } from '#edge/http/limit-rate.ts';
import { demandPreferredType } from '#edge/http/media-type.ts';
import { parametersOf } from '#edge/http/parameters.ts';
import type { Position } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { admit, type Caller } from '#shared/policy.ts';
import { EVENT_OPERATIONS, type EventFilter, followedEvents } from '#shared/rest/events.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import type { Cohort } from '../changes/renderings.ts';
import { createSharedCohorts } from '../changes/shared-cohorts.ts';
import { containsText, matcherOf, topicsFor } from '../events/filter.ts';
import type { EventService } from '../events/service.ts';
import type { Live } from '../live/live.ts';
import { positionOfCursor } from '../rest/cursor-position.ts';
import type { Charge } from '../rest/meter.ts';
import { EVENT_STREAM_TYPE, type EventStream } from '../sse/event-stream.ts';
import { eventMessage } from '../sse/messages.ts';
import { StreamReader } from '../sse/stream-reader.ts';

type Dependencies = Pick<Live, 'feed' | 'streams' | 'demandPresentRole'> &
  Pick<EventService, 'represent' | 'times'> & {
    readonly domain: Domain;
    readonly eventLog: Pick<EventLog, 'identity' | 'eventAt' | 'head'>;
    readonly before: readonly RequestHandler[];
  };

/**
 * `GET /events` as server-sent events for clients that prefer them; other requests fall through to the pages.
 */
export const eventStreamRoutes = ({ before, ...dependencies }: Dependencies): Router => {
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
