import type { Position } from '#shared/brands.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { ChangeReaderOptions } from '#shared/change-stream/changes.ts';
import { formatCursor } from '#shared/cursor.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { EventFilter } from '#shared/rest/events.ts';
import { LIMIT_DEFAULT } from '#shared/rest/lists.ts';
import type { ListAnswer } from '#shared/rest/reads/answer.ts';
import { mayKnow } from '#shared/visibility/may-know.ts';
import { type Charge, createMeter } from '../as-of/meter.ts';
import type { Reads } from '../read-routes.ts';
import { askedBy, streamFor } from './filter.ts';
import { placeOf } from './place.ts';
import { readPage, type Walk } from './read-page.ts';
import type { RepresentEvent } from './representation.ts';
import type { Times } from './times.ts';
import { walkStream } from './walk-stream.ts';

type Dependencies = Pick<ChangeReaderOptions, 'domain' | 'pool' | 'keys'> & {
  readonly changes: Pick<ChangeStream, 'follow' | 'head'>;
  readonly eventLog: Pick<EventLog, 'identity' | 'head' | 'read'>;
  readonly times: Times;
  readonly represent: RepresentEvent;
};

type Span = { readonly after: Position; readonly upTo: Position };

/** The feed in pages. It has no end, only a last page for now, which says where to ask for more later. */
export const eventReads = ({ changes, eventLog, times, represent, ...reading }: Dependencies): Reads<'listEvents'> => {
  const catalogue = catalogueOf(reading.domain);
  const walkFor = (filter: EventFilter, { after, upTo }: Span, charge: Charge): Walk => {
    const stream = streamFor(catalogue, filter);
    if (stream === undefined || upTo - after <= NEAR) return (from, signal) => changes.follow(from, signal);
    return walkStream({ eventLog: createMeter(charge).metered(eventLog), ...reading }, stream, upTo);
  };

  return {
    async listEvents({ caller, charge }, { limit = LIMIT_DEFAULT, after, since, until, ...filter }) {
      const place = after === undefined ? START : await placeOf(after, { eventLog, known: START, parameter: 'after' });
      const start = await times.further(place, since, charge);
      const head = await changes.head();
      const end = until === undefined ? undefined : await times.end(until, charge);
      const upTo = end === undefined || end > head ? head : end;
      const isAskedFor = askedBy(catalogue, filter);
      const page = await readPage(walkFor(filter, { after: start, upTo }, charge), {
        after: start,
        upTo,
        limit,
        isWanted: (change) => isAskedFor(change) && mayKnow(caller, change),
      });
      const hrefAfter = (position: Position | undefined) =>
        hrefOf({ ...filter, limit, until, ...(position === undefined ? { since } : { after: formatCursor(eventLog.identity, position) }) });
      const onwards = hrefAfter(page.upTo);
      const isOver = page.isLast && end !== undefined && end < head;
      const links: ListAnswer['links'] = {
        self: after === undefined ? hrefAfter(undefined) : hrefAfter(start),
        ...(after !== undefined && { first: hrefAfter(undefined) }),
        ...(isOver ? {} : page.isLast ? { poll: onwards } : { next: onwards }),
      };
      return { kind: 'list', items: await Promise.all(page.changes.map((change) => represent(change, caller))), links };
    },
  };
};

/** With so little to look through, the log is no dearer than a stream, in which the place has to be found first. */
const NEAR = 1_000;

const hrefOf = (parameters: Readonly<Record<string, string | number | readonly string[] | undefined>>): string => {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return `/events?${new URLSearchParams(given.map(([name, value]) => [name, String(value)] as [string, string]))}`;
};
