import type { Position, StreamName } from '#kernel/base/brands.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { LIMIT_DEFAULT } from '#kernel/base/rest/lists.ts';
import type { Change, ChangePage, ChangeStream } from '#shared/change-stream/change-stream.ts';
import {
  type ChangeReader,
  type ChangeReaderOptions,
  createChangeReader,
} from '#shared/change-stream/changes.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { cursorAt } from '#shared/event-log/own-cursor.ts';
import { type Catalogue, catalogueOf } from '#shared/events/catalogue.ts';
import type { Caller } from '#shared/policy.ts';
import type { EventFilter } from '#shared/rest/events.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import { positionOfCursor } from '../rest/cursor-position.ts';
import { type Charge, createMeter } from '../rest/meter.ts';
import type { Reads } from '../rest/read-routes.ts';
import { containsText, indexed, matcherOf } from './filter.ts';
import { firstAfter } from './first-after.ts';
import { walkIndexed } from './indexed.ts';
import { earlier, type Order, readPage, type Walk } from './page.ts';
import { type Bounds, hrefOf, linksBack, linksOn } from './page-links.ts';
import type { RepresentEvent } from './representation.ts';
import type { Times } from './times.ts';

type Dependencies = Pick<ChangeReaderOptions, 'domain' | 'pool' | 'keys' | 'snapshots'> & {
  readonly changes: Pick<ChangeStream, 'follow' | 'head'>;
  readonly eventLog: Pick<
    EventLog,
    'identity' | 'namesEvents' | 'remembered' | 'eventAt' | 'head' | 'read' | 'follow'
  >;
  readonly times: Times;
  readonly represent: RepresentEvent;
};

type Span = { readonly after: Position; readonly upTo: Position; readonly order: Order };

/**
 * The feed in pages, in either order. In ascending order it never ends: the last page links to a poll for
 * later events. So does the first page in descending order.
 */
export const eventReads = ({
  changes,
  eventLog,
  times,
  represent,
  ...reading
}: Dependencies): Reads<'listEvents'> => {
  const catalogue = catalogueOf(reading.domain);
  const reader = createChangeReader({ eventLog, ...reading });
  const sources = { catalogue, changes, pool: reading.pool, eventLog, reader };
  return {
    async listEvents(
      { caller, charge },
      { limit = LIMIT_DEFAULT, sort, after, before, since, until, ...filter },
    ) {
      const isLatestFirst = sort === '-cursor';
      if (before !== undefined && !isLatestFirst) throw beforeAlone();
      const positionAt = (text: string | undefined, parameter: 'after' | 'before') =>
        text === undefined
          ? undefined
          : positionOfCursor(text, { eventLog, known: START, parameter, excludes: parameter === 'before' });
      const [afterPosition, beforePosition] = [
        await positionAt(after, 'after'),
        await positionAt(before, 'before'),
      ];
      const from = await times.further(afterPosition ?? START, since, charge);
      const head = await changes.head();
      const ends = until === undefined ? undefined : await times.end(until, charge);
      const upTo = [ends, beforePosition && ((beforePosition - 1) as Position)].reduce<Position>(
        (end, each) => earlier(each ?? end, end),
        head,
      );
      const order = isLatestFirst && afterPosition === undefined ? 'desc' : 'asc';
      const span: Span = { after: from, upTo, order };
      const page = await readPage(await walkFor(sources, filter, span, charge), {
        ...{ ...span, limit },
        lookedAtMax: filter.text === undefined ? LOOKED_AT_MAX : SEARCHED_MAX,
        isWanted: wantedBy({ catalogue, represent }, filter, caller),
      });
      const cursor = (position: Position) => cursorAt(eventLog, position);
      const hrefAt = (place: Bounds = { since }) =>
        hrefOf({ sort: isLatestFirst ? sort : undefined, ...filter, limit, until, ...place });
      const self = hrefAt(before ? { since, before } : after ? { after: cursor(from) } : undefined);
      const items = await Promise.all(page.changes.map((change) => represent(change, caller)));
      const isOver = page.isLast && ends !== undefined && ends < head;
      const links = isLatestFirst
        ? linksBack(
            {
              ...{ order, isOver, hrefAt, cursor, since, upTo, start: from },
              isFirst: after === undefined && before === undefined,
            },
            page,
          )
        : linksOn({ hrefAt, isOver, isFirst: after === undefined, onwards: cursor(page.reached) }, page);
      return {
        kind: 'list',
        items: isLatestFirst && order === 'asc' ? items.toReversed() : items,
        links: { self, ...links },
        ...(items.length < limit &&
          !page.isLast &&
          page.lookedAt !== undefined && { headers: { 'Searched-To': page.lookedAt } }),
      };
    },
  };
};

type Sources = Pick<Dependencies, 'changes' | 'eventLog' | 'pool'> & {
  readonly catalogue: Catalogue;
  readonly reader: ChangeReader;
};

/** The cheapest way to read a span: an index, the log, or the stream of the aggregate asked for. */
const walkFor = (
  { catalogue, changes, ...sources }: Sources,
  filter: EventFilter,
  { after, upTo, order }: Span,
  charge: Charge,
): Walk | Promise<Walk> => {
  const { query, isAll } = indexed(catalogue, filter);
  const meter = createMeter(charge);
  if (
    order === 'desc' ||
    query.actor !== undefined ||
    query.client !== undefined ||
    query.correlation !== undefined
  )
    return walkIndexed(sources, { query, isSearch: !isAll, after, upTo, order, meter });
  if (query.stream === undefined || upTo - after <= NEAR)
    return (from, signal) => changes.follow(from, signal);
  const { reader, eventLog } = sources;
  return walkStream({ reader, eventLog: meter.metered(eventLog) }, query.stream as StreamName, upTo);
};

const wantedBy = (
  { catalogue, represent }: Pick<Sources, 'catalogue'> & Pick<Dependencies, 'represent'>,
  filter: EventFilter,
  caller: Caller,
) => {
  const matches = matcherOf(catalogue, filter);
  const mayBe = (change: Change): boolean => matches(change, caller) && maySee(caller, change);
  if (filter.text === undefined) return mayBe;
  const contains = containsText(filter.text);
  return async (change: Change): Promise<boolean> =>
    mayBe(change) && contains((await represent(change, caller)).data);
};

const beforeAlone = (): HttpProblem =>
  new HttpProblem('invalid_parameter', {
    extensions: { errors: [{ parameter: 'before', detail: 'Needs sort=-cursor.' }] },
  });

/**
 * The maximum of events examined for one page. Callers who may see few of them get a shorter page, and resume
 * after it.
 */
const LOOKED_AT_MAX = 10_000;
/** The same if the data of each event must be decoded. */
const SEARCHED_MAX = 2_000;
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
