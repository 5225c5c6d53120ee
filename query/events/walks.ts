import type { Position, StreamName } from '#kernel/base/brands.ts';
import type { ChangePage } from '#shared/change-stream/change-stream.ts';
import type { ChangeReader } from '#shared/change-stream/changes.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';
import type { EventFilter } from '#shared/rest/events.ts';
import type { createMeter } from '../rest/meter.ts';
import { indexed } from './filter.ts';
import { firstAfter } from './first-after.ts';
import { walkIndexed } from './indexed.ts';
import type { Order, Walk } from './page.ts';

export type Span = { readonly after: Position; readonly upTo: Position; readonly order: Order };

type Sources = {
  readonly pool: Pick<Pool, 'query'>;
  readonly eventLog: Pick<EventLog, 'identity' | 'read' | 'follow' | 'page'>;
  readonly catalogue: Catalogue;
  readonly reader: ChangeReader;
};

/** The cheapest way to read a span: an index, the log, or the stream of the aggregate asked for. */
export const walkFor = (
  { catalogue, ...sources }: Sources,
  { filter, span: { after, upTo, order }, limit, meter }: Asked,
): Walk | Promise<Walk> => {
  const { query, isAll } = indexed(catalogue, filter);
  if (
    order === 'desc' ||
    query.actor !== undefined ||
    query.client !== undefined ||
    query.correlation !== undefined
  )
    return walkIndexed(sources, { query, isSearch: !isAll, first: limit + FEW, after, upTo, order, meter });
  const scan = (to: Position) =>
    walkLog({ ...sources, meter }, { upTo: to, first: isUnfiltered(filter) ? limit + FEW : SCAN_FIRST });
  if (upTo - after <= NEAR) return scan(upTo);
  if (query.stream === undefined) {
    // Where positions have gaps, only those of events are known: nothing begins at one that is computed.
    if (!isAll || query.types === undefined || sources.eventLog.page === undefined) return scan(upTo);
    const near = (after + NEAR) as Position;
    const further = { query, isSearch: false, after: near, upTo, order, meter };
    return oneAfterOther(scan(near), near, () => walkIndexed(sources, further));
  }
  const { reader, eventLog } = sources;
  return walkStream({ reader, eventLog: meter.metered(eventLog) }, query.stream as StreamName, upTo);
};

type Asked = {
  readonly filter: EventFilter;
  readonly span: Span;
  readonly limit: number;
  readonly meter: ReturnType<typeof createMeter>;
};

const isUnfiltered = (filter: object): boolean => Object.values(filter).every((value) => value === undefined);

/** The events that are not shown among those of a page without a filter: most are. */
const FEW = 10;
/** The events that are read first to find those that fit a filter. */
const SCAN_FIRST = 100;

/**
 * Frequent types fill a page from the next events of the log, which cost less in a row than one by one. The
 * index finds rare ones.
 */
const oneAfterOther = (near: Walk, upTo: Position, further: () => Promise<Walk>): Walk =>
  async function* walk(from, signal): AsyncGenerator<ChangePage> {
    if (from < upTo) yield* near(from, signal);
    if (!signal.aborted) yield* (await further())(from < upTo ? upTo : from, signal);
  };

type Scanning = {
  readonly eventLog: Pick<EventLog, 'read' | 'follow' | 'page'>;
  readonly reader: Pick<ChangeReader, 'toPage'>;
  readonly meter: ReturnType<typeof createMeter>;
};

/**
 * The changes from the log itself, up to a position that the read model has reached. Reads no more than a page
 * needs at first, and more at once the longer it searches; what it reads is charged.
 */
const walkLog = (
  { eventLog, reader, meter }: Scanning,
  { upTo, first }: { readonly upTo: Position; readonly first: number },
): Walk =>
  async function* walk(from, signal): AsyncGenerator<ChangePage> {
    let last = from;
    for await (const events of readBetween(eventLog, { after: from, upTo, first }, signal)) {
      await meter.onRead(events);
      const page = await reader.toPage(events, last, meter.metered(eventLog));
      yield page;
      last = page.upTo;
    }
    if (!signal.aborted) yield { changes: [], upTo };
  };

/**
 * In so short a span, reading the log costs no more than the stream, where the first event must be searched.
 */
const NEAR = 1_000;

type Walking = { readonly reader: Pick<ChangeReader, 'ofStream'>; readonly eventLog: Pick<EventLog, 'read'> };

/** The changes of one aggregate from its own stream, up to a position that the read model has reached. */
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
      // After at least one page: a client that gets nothing would repeat the same request.
      if (signal.aborted) return;
    }
    yield { changes: [], upTo };
  };
