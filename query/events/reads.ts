import type { Position, StreamName, Version } from '#shared/brands.ts';
import type { Change, ChangePage, ChangeStream } from '#shared/change-stream/change-stream.ts';
import { type ChangeReader, type ChangeReaderOptions, createChangeReader } from '#shared/change-stream/changes.ts';
import { formatCursor } from '#shared/cursor.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { EventFilter } from '#shared/rest/events.ts';
import { LIMIT_DEFAULT } from '#shared/rest/lists.ts';
import type { ListAnswer } from '#shared/rest/reads/answer.ts';
import { mayKnow } from '#shared/visibility/may-know.ts';
import { type Charge, createMeter } from '../as-of/meter.ts';
import type { Reads } from '../read-routes.ts';
import { askedBy, streamFor } from './filter.ts';
import { placeOf } from './place.ts';
import type { RepresentEvent } from './representation.ts';
import type { Times } from './times.ts';

type Dependencies = Pick<ChangeReaderOptions, 'domain' | 'pool' | 'keys' | 'snapshots'> & {
  readonly changes: Pick<ChangeStream, 'follow' | 'head'>;
  readonly eventLog: Pick<EventLog, 'identity' | 'head' | 'read'>;
  readonly times: Times;
  readonly represent: RepresentEvent;
};

type Span = { readonly after: Position; readonly upTo: Position };

/** The feed in pages. It has no end, only a last page for now, which says where to ask for more later. */
export const eventReads = ({ changes, eventLog, times, represent, ...reading }: Dependencies): Reads<'listEvents'> => {
  const catalogue = catalogueOf(reading.domain);
  const reader = createChangeReader({ eventLog, ...reading });
  const walkFor = (filter: EventFilter, { after, upTo }: Span, charge: Charge): Walk => {
    const stream = streamFor(catalogue, filter);
    if (stream === undefined || upTo - after <= NEAR) return (from, signal) => changes.follow(from, signal);
    return walkStream({ reader, eventLog: createMeter(charge).metered(eventLog) }, stream, upTo);
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

type Walking = { readonly reader: Pick<ChangeReader, 'ofStream'>; readonly eventLog: Pick<EventLog, 'read'> };

/** What happened to one thing, out of its own stream; up to a position, which the read model has reached. */
export const walkStream = ({ reader, eventLog }: Walking, stream: StreamName, upTo: Position): Walk =>
  async function* walk(after, signal): AsyncGenerator<ChangePage> {
    let last = after;
    for await (const events of eventLog.read(stream, await firstAfter(eventLog, stream, after))) {
      const next = events.filter(({ position }) => position > last && position <= upTo);
      if (next.length > 0) {
        const page = await reader.ofStream(next, eventLog);
        yield page;
        last = page.upTo;
      }
      if ((events.at(-1)?.position ?? upTo) >= upTo) break;
      // Not sooner, because who is given nothing would ask for the same again.
      if (signal.aborted) return;
    }
    yield { changes: [], upTo };
  };

const LOOKED_AT_EVENTS = 100;

/** The version of the first event of a stream after a position, or which it would have; found by halving. */
export const firstAfter = async (eventLog: Pick<EventLog, 'read'>, stream: StreamName, position: Position): Promise<Version> => {
  const pageFrom = async (version: number): Promise<readonly RecordedEvent[]> => {
    for await (const page of eventLog.read(stream, version as Version, (version + LOOKED_AT_EVENTS - 1) as Version)) return page;
    return [];
  };
  let [low, high, step] = [0, Number.POSITIVE_INFINITY, 1];
  while (high - low > 1) {
    const version = high === Number.POSITIVE_INFINITY ? low + step : Math.floor((low + high) / 2);
    const page = await pageFrom(version);
    const [first, last] = [page.find((event) => event.position > position), page.at(-1)];
    if (first && first !== page[0]) return first.version;
    if (first || !last) high = version;
    else low = last.version;
    step = Math.max(step * 2, page.length);
  }
  return high as Version;
};

type ChangesPage = {
  readonly changes: readonly Change[];
  /** There are no others up to here. */
  readonly upTo: Position;
  readonly isLast: boolean;
};

type Asked = {
  readonly after: Position;
  /** As far as there is anything to read. */
  readonly upTo: Position;
  readonly limit: number;
  isWanted(change: Change): boolean;
};

/** Where the changes come from: all in their order after a position, or those of one stream. */
type Walk = (after: Position, signal: AbortSignal) => AsyncIterable<ChangePage>;

/** So many are looked at for one page; who may know of few gets a shorter one, and goes on from there. */
const LOOKED_AT_MAX = 10_000;
/** What takes longer than this, ends the page as well. */
const TIME_MAX_MS = 5_000;

/** Up to so many wanted changes after a position. */
const readPage = async (walk: Walk, { after, upTo: end, limit, isWanted }: Asked): Promise<ChangesPage> => {
  const wanted: Change[] = [];
  let upTo = after;
  let lookedAt = 0;
  if (upTo >= end) return { changes: wanted, upTo, isLast: true };
  for await (const page of walk(after, AbortSignal.timeout(TIME_MAX_MS))) {
    for (const change of page.changes) {
      if (change.position > end) break;
      lookedAt += 1;
      if (isWanted(change)) wanted.push(change);
      upTo = change.position;
      if (wanted.length === limit || lookedAt === LOOKED_AT_MAX) return { changes: wanted, upTo, isLast: upTo >= end };
    }
    upTo = page.upTo < end ? page.upTo : end;
    if (upTo >= end) return { changes: wanted, upTo, isLast: true };
  }
  return { changes: wanted, upTo, isLast: false };
};
