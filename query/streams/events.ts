import { type Request, Router } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { takeMore } from '#edge/http/limit-rate.ts';
import { parametersOf } from '#edge/http/parameters.ts';
import { demandRight } from '#edge/rest/admission.ts';
import type { Position } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { admit, type Caller } from '#shared/policy.ts';
import { cloudEventOf } from '#shared/rest/cloud-events.ts';
import { EVENT_OPERATIONS, followedEvents } from '#shared/rest/event-operations.ts';
import type { EventFilter } from '#shared/rest/events.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import type { Cohort } from '../changes/renderings.ts';
import { createSharedCohorts } from '../changes/shared-cohorts.ts';
import { containsText, matcherOf, topicsFor } from '../events/filter.ts';
import { createBareRepresentation } from '../events/representation.ts';
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
    /** The URL by which clients know this installation. */
    readonly config: { readonly publicUrl: string };
    readonly eventLog: Pick<EventLog, 'identity' | 'eventAt' | 'head'>;
  };

/** `GET /events` as server-sent events. */
export const eventStreamRoutes = (dependencies: Dependencies): Router => {
  const follow = createFollow(dependencies);
  const asked = followedEvents(catalogueOf(dependencies.domain));
  const handlers = streamHandlers(dependencies, {
    isOfEvents: true,
    admit(request) {
      if (!isBare(callerOf(request))) demandRight(request, EVENT_OPERATIONS.listEvents);
    },
    async prepare(request, response) {
      const { after, since, ...filter } = parametersOf(asked, request.query);
      if (isBare(callerOf(request))) demandBareFilter(request, filter);
      const charge = (units: number) => takeMore(request, response, units);
      const start = await startPosition(request, { after, since, charge }, dependencies);
      const asCloudEvents = wantsCloudEvents(request);
      return (stream) => follow(stream, { filter, after: start, asCloudEvents });
    },
  });
  return Router().get(EVENT_OPERATIONS.listEvents.path, ...handlers);
};

/**
 * Whether the token is not for events. Its user may still follow the items that it is for, as a reader of their
 * lists could by polling: each event has ids alone.
 */
const isBare = (caller: Caller): boolean =>
  caller.kind === 'user' && admit(caller, EVENT_OPERATIONS.listEvents.right) !== 'allowed';

/** Other filters would tell what the events do not show. */
const BARE_FILTERS: ReadonlySet<string> = new Set(['types', 'subject']);
const demandBareFilter = (request: Request, filter: EventFilter): void => {
  const isShown = ([name, value]: readonly [string, unknown]) =>
    value === undefined || BARE_FILTERS.has(name);
  if (!Object.entries(filter).every(isShown)) demandRight(request, EVENT_OPERATIONS.listEvents);
};

/** A parameter of the media type, which the choice of a type ignores. */
const wantsCloudEvents = ({ headers: { accept = '' } }: Request): boolean => CLOUD_EVENTS.test(accept);
const CLOUD_EVENTS = /text\/event-stream\s*;[^,]*\bformat\s*=\s*"?cloudevents\b/i;

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

type Asked = {
  readonly filter: EventFilter;
  readonly after: Position | 'now';
  readonly asCloudEvents: boolean;
};

const createFollow = ({
  domain,
  feed,
  eventLog,
  represent,
  config: { publicUrl },
}: Pick<Dependencies, 'domain' | 'feed' | 'eventLog' | 'represent' | 'config'>) => {
  const sharedCohortOf = createSharedCohorts();
  const representBare = createBareRepresentation({ domain, log: eventLog });
  const cohortOf = ({ filter, asCloudEvents }: Asked, caller: Caller): Cohort => {
    const show = isBare(caller) ? representBare : represent;
    // Callers with other scopes have another key.
    return sharedCohortOf(JSON.stringify(['events', asCloudEvents, filter, ...readerKey(caller)]), () => {
      const matches = matcherOf(catalogueOf(domain), filter);
      const contains = filter.text === undefined ? () => true : containsText(filter.text);
      return {
        topics: topicsFor(domain, filter),
        async render(change, reader) {
          if (!matches(change, reader) || !maySee(reader, change)) return undefined;
          const event = await show(change, reader);
          if (!contains(event)) return undefined;
          const shown = asCloudEvents ? cloudEventOf({ ...event }, publicUrl) : event;
          return eventMessage({ id: event.cursor, data: JSON.stringify(shown) });
        },
      };
    });
  };
  return (stream: EventStream, asked: Asked): Disposable => {
    const caller = callerOf(stream.request);
    const { after } = asked;
    return feed.join(new StreamReader(stream, { cohort: cohortOf(asked, caller), caller, after, eventLog }));
  };
};

const readerKey = (caller: Caller): readonly unknown[] =>
  caller.kind === 'user' ? [caller.role, [...caller.scopes].toSorted(), caller.attributes] : [caller.kind];
