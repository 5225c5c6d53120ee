import { type Request, Router } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { takeMore } from '#edge/http/limit-rate.ts';
import { parametersOf } from '#edge/http/parameters.ts';
import { demandRight } from '#edge/rest/admission.ts';
import type { Position } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { Caller } from '#shared/policy.ts';
import { EVENT_OPERATIONS, type EventFilter, followedEvents } from '#shared/rest/events.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import type { Cohort } from '../changes/renderings.ts';
import { createSharedCohorts } from '../changes/shared-cohorts.ts';
import { containsText, matcherOf, topicsFor } from '../events/filter.ts';
import type { EventService } from '../events/service.ts';
import type { Live } from '../live/live.ts';
import { firstCursorOf, positionOfCursor } from '../rest/cursor-position.ts';
import type { Charge } from '../rest/meter.ts';
import type { EventStream } from '../sse/event-stream.ts';
import { eventMessage } from '../sse/messages.ts';
import { StreamReader } from '../sse/stream-reader.ts';
import { type StreamDependencies, streamHandlers } from './stream-route.ts';

type Dependencies = Pick<Live, 'feed'> &
  StreamDependencies &
  Pick<EventService, 'represent' | 'times'> & {
    readonly domain: Domain;
    readonly eventLog: Pick<EventLog, 'identity' | 'eventAt' | 'head'>;
  };

/** `GET /events` as server-sent events. */
export const eventStreamRoutes = (dependencies: Dependencies): Router => {
  const follow = createFollow(dependencies);
  const asked = followedEvents(catalogueOf(dependencies.domain));
  const handlers = streamHandlers(dependencies, {
    admit: (request) => demandRight(request, EVENT_OPERATIONS.listEvents),
    async prepare(request, response) {
      const { after, since, ...filter } = parametersOf(asked, request.query);
      const charge = (units: number) => takeMore(request, response, units);
      const start = await startPosition(request, { after, since, charge }, dependencies);
      return (stream) => follow(stream, { filter, after: start });
    },
  });
  return Router().get(EVENT_OPERATIONS.listEvents.path, ...handlers);
};

type Start = {
  readonly after: string | undefined;
  readonly since: string | undefined;
  readonly charge: Charge;
};

const startPosition = async (
  request: Request,
  { after, since, charge }: Start,
  { feed, eventLog, times }: Pick<Dependencies, 'feed' | 'eventLog' | 'times'>,
): Promise<Position | 'now'> => {
  const { text, parameter } = firstCursorOf(request, after);
  if (text === undefined) return since === undefined ? 'now' : times.further(START, since, charge);
  const start = await positionOfCursor(text, { eventLog, known: feed.upTo, parameter });
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
          if (!contains(event)) return undefined;
          return eventMessage({ id: event.cursor, data: JSON.stringify(event) });
        },
      };
    });
  return (stream: EventStream, { filter, after }: Asked): Disposable => {
    const caller = callerOf(stream.request);
    return feed.join(new StreamReader(stream, { cohort: cohortOf(filter, caller), caller, after, eventLog }));
  };
};

const readerKey = (caller: Caller): readonly unknown[] =>
  caller.kind === 'user' ? [caller.role, [...caller.scopes].toSorted(), caller.attributes] : [caller.kind];
