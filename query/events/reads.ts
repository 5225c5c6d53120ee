import type { Position } from '#kernel/base/brands.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { LIMIT_DEFAULT } from '#kernel/base/rest/lists.ts';
import type { Change, ChangeStream } from '#shared/change-stream/change-stream.ts';
import { type ChangeReaderOptions, createChangeReader } from '#shared/change-stream/changes.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { cursorAt } from '#shared/event-log/own-cursor.ts';
import { type Catalogue, catalogueOf } from '#shared/events/catalogue.ts';
import type { Caller } from '#shared/policy.ts';
import { notingNothing } from '#shared/read-log/noted.ts';
import { cloudEventOf } from '#shared/rest/cloud-events.ts';
import type { EventFilter } from '#shared/rest/events.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import { positionOfCursor } from '../rest/cursor-position.ts';
import { createMeter } from '../rest/meter.ts';
import type { Reads } from '../rest/read-routes.ts';
import { type AtHand, createAtHand } from './at-hand.ts';
import { containsText, matcherOf } from './filter.ts';
import { earlier, readPage } from './page.ts';
import { type Bounds, hrefOf, linksBack, linksOn } from './page-links.ts';
import type { RepresentEvent } from './representation.ts';
import type { Times } from './times.ts';
import { type Span, walkFor } from './walks.ts';

type Dependencies = Pick<ChangeReaderOptions, 'domain' | 'pool' | 'keys' | 'snapshots'> & {
  readonly changes: Pick<ChangeStream, 'head'>;
  readonly eventLog: Pick<
    EventLog,
    'identity' | 'namesEvents' | 'remembered' | 'eventAt' | 'head' | 'read' | 'follow' | 'page'
  >;
  readonly times: Times;
  readonly represent: RepresentEvent;
  /** The URL by which clients know this installation. */
  readonly publicUrl: string;
};

/**
 * The feed in pages, in either order. In ascending order it never ends: the last page links to a poll for
 * later events. So does the first page in descending order.
 */
export const eventReads = ({
  changes,
  eventLog,
  times,
  represent,
  publicUrl,
  ...reading
}: Dependencies): Reads<'listEvents'> => {
  const catalogue = catalogueOf(reading.domain);
  const reader = createChangeReader({ eventLog, ...reading });
  const sources = { catalogue, pool: reading.pool, eventLog };
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
      const atHand = createAtHand(reader);
      const meter = createMeter(charge);
      const walk = walkFor({ ...sources, reader: atHand.reader }, { filter, span, limit, meter });
      const page = await readPage(await walk, {
        ...{ ...span, limit },
        lookedAtMax: filter.text === undefined ? LOOKED_AT_MAX : SEARCHED_MAX,
        isWanted: wantedBy({ catalogue, represent, atHand, meter }, filter, caller),
      });
      const cursor = (position: Position) => cursorAt(eventLog, position);
      const hrefAt = (place: Bounds = { since }) =>
        hrefOf({ sort: isLatestFirst ? sort : undefined, ...filter, limit, until, ...place });
      const self = hrefAt(before ? { since, before } : after ? { after: cursor(from) } : undefined);
      await meter.onOpened(page.changes.length);
      const found = await Promise.all(
        page.changes.map((change) => represent(change, caller, atHand.recordedOf(change))),
      );
      const items = isLatestFirst && order === 'asc' ? found.toReversed() : found;
      // Where positions have gaps, no page begins after the one before `before`: it may be that of no event.
      const isKnown = eventLog.page !== undefined || before === undefined || order === 'asc';
      const newest = isKnown ? upTo : (page.changes[0]?.position ?? (page.isLast ? from : upTo));
      const isOver = page.isLast && ends !== undefined && ends < head;
      const links = isLatestFirst
        ? linksBack(
            {
              ...{ order, isOver, hrefAt, cursor, since, upTo: newest, start: from },
              isFirst: after === undefined && before === undefined,
            },
            page,
          )
        : linksOn({ hrefAt, isOver, isFirst: after === undefined, onwards: cursor(page.reached) }, page);
      return {
        kind: 'list',
        items,
        cloudEvents: () => items.map((each) => cloudEventOf({ ...each }, publicUrl)),
        links: { self, ...links },
        ...(items.length < limit &&
          !page.isLast &&
          page.lookedAt !== undefined && { headers: { 'Searched-To': page.lookedAt } }),
      };
    },
  };
};

const wantedBy = (
  {
    catalogue,
    represent,
    atHand,
    meter,
  }: Pick<Dependencies, 'represent'> & {
    readonly catalogue: Catalogue;
    readonly atHand: AtHand;
    readonly meter: ReturnType<typeof createMeter>;
  },
  filter: EventFilter,
  caller: Caller,
) => {
  const matches = matcherOf(catalogue, filter);
  const mayBe = (change: Change): boolean => matches(change, caller) && maySee(caller, change);
  const contains = filter.text === undefined ? undefined : containsText(filter.text);
  return async (change: Change): Promise<boolean> => {
    if (!mayBe(change)) return false;
    const recorded = atHand.recordedOf(change);
    if (contains !== undefined) {
      await meter.onOpened(1);
      if (!contains(await notingNothing(() => represent(change, caller, recorded)))) return false;
    }
    atHand.keep(change);
    return true;
  };
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
