import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { ChangePage } from '#shared/change-stream/change-stream.ts';
import type { ChangeReader } from '#shared/change-stream/changes.ts';
import type { Pool } from '#shared/database/pool.ts';
import { indexEnd, readBehind } from '#shared/event-index/behind.ts';
import {
  type IndexedEvent,
  type IndexQuery,
  isFoundBy,
  listIndexed,
} from '#shared/event-index/event-index.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import type { createMeter } from '../rest/meter.ts';
import { earlier, later, type Order, type Walk } from './page.ts';

type IndexSources = {
  readonly pool: Pick<Pool, 'query'>;
  readonly eventLog: Pick<EventLog, 'identity' | 'read' | 'follow'>;
  readonly reader: Pick<ChangeReader, 'ofStream'>;
};

type Asked = {
  readonly query: IndexQuery;
  /**
   * True if the index covers the filter only in part. Then each event is compared, and more are read at once.
   */
  readonly isSearch: boolean;
  /** The events that probably suffice. */
  readonly first?: number;
  readonly after: Position;
  readonly upTo: Position;
  readonly order: Order;
  readonly meter: ReturnType<typeof createMeter>;
};

const AT_ONCE = 100;
const SEARCHED_AT_ONCE = 1_000;
const atOnce = ({ isSearch, first = AT_ONCE }: Pick<Asked, 'isSearch' | 'first'>): number =>
  isSearch ? SEARCHED_AT_ONCE : Math.min(first, AT_ONCE);
/**
 * The events of a span that the index finds, in either order, and those that the index has not reached yet.
 */
export const walkIndexed = async (sources: IndexSources, asked: Asked): Promise<Walk> => {
  const end = await indexEnd(sources);
  return (from, signal) =>
    asked.order === 'asc'
      ? upwards(sources, asked, { end, from, signal })
      : downwards(sources, asked, { end, from, signal });
};

type Going = { readonly end: Position; readonly from: Position; readonly signal: AbortSignal };

async function* upwards(
  sources: IndexSources,
  asked: Asked,
  { end, from, signal }: Going,
): AsyncGenerator<ChangePage> {
  const indexed = earlier(asked.upTo, end);
  yield* walkRows(sources, { ...asked, after: from, upTo: indexed }, signal);
  if (signal.aborted) return;
  for await (const events of readBetween(
    sources.eventLog,
    { after: later(from, indexed), upTo: asked.upTo },
    signal,
  )) {
    await asked.meter.onRead(events);
    const found = events.filter((event) => isFoundBy(asked.query, event));
    const { changes } = await openChanges(sources, asked, found);
    yield { changes, upTo: events.at(-1)?.position ?? asked.upTo };
    if (signal.aborted) return;
  }
  if (!signal.aborted) yield { changes: [], upTo: asked.upTo };
}

async function* downwards(
  sources: IndexSources,
  asked: Asked,
  { end, from, signal }: Going,
): AsyncGenerator<ChangePage> {
  const indexed = later(asked.after, end);
  if (from > indexed) yield* walkBehind(sources, asked, { end: indexed, from, signal });
  if (signal.aborted) return;
  yield* walkRows(sources, { ...asked, upTo: earlier(from, indexed) }, signal);
}

/** The latest first, decoding no more than asked for. */
async function* walkBehind(
  sources: IndexSources,
  asked: Asked,
  { end, from, signal }: Going,
): AsyncGenerator<ChangePage> {
  const events = await readBehind(sources.eventLog, { after: end, upTo: from });
  await asked.meter.onRead(events);
  const found = events.filter((event) => isFoundBy(asked.query, event));
  const limit = atOnce(asked);
  for (let to = found.length; to > 0 && !signal.aborted; to -= limit) {
    const some = found.slice(Math.max(to - limit, 0), to);
    const { changes } = await openChanges(sources, asked, some);
    yield { changes: changes.toReversed(), upTo: ((some[0]?.position ?? from) - 1) as Position };
  }
  if (!signal.aborted) yield { changes: [], upTo: end };
}

async function* walkRows(
  sources: IndexSources,
  asked: Asked,
  signal: AbortSignal,
): AsyncGenerator<ChangePage> {
  const { query, order } = asked;
  let { after, upTo } = asked;
  for (let limit = atOnce(asked); after < upTo; limit = atOnce({ isSearch: asked.isSearch })) {
    const rows = await listIndexed(sources.pool, { query, span: { after, upTo }, order, limit });
    const isLast = rows.length < limit;
    const last = rows.at(-1)?.position ?? START;
    if (order === 'asc') after = isLast ? upTo : last;
    else upTo = isLast ? after : ((last - 1) as Position);
    const reached = order === 'asc' ? after : upTo;
    const { changes } =
      rows.length === 0
        ? { changes: [] }
        : await changesOf(sources, asked, await readRows(sources, asked, rows));
    yield { changes: order === 'asc' ? changes : changes.toReversed(), upTo: reached };
    if (signal.aborted) return;
  }
}

/** Returns them in the order of the log. */
const readRows = async (
  { eventLog }: IndexSources,
  { query, isSearch }: Asked,
  rows: readonly IndexedEvent[],
): Promise<readonly RecordedEvent[]> => {
  const ids = new Set(rows.map(({ id }) => id));
  const isEverything = isSearch && Object.values(query).every((value) => value === undefined);
  const pages = isEverything
    ? await readSpan(eventLog, rows)
    : (await Promise.all(runsOf(rows).map((run) => Array.fromAsync(eventLog.read(...run))))).flat();
  return pages
    .flat()
    .filter(({ id }) => ids.has(id))
    .toSorted((one, other) => one.position - other.position);
};

/** The first by its stream: where positions have gaps, nobody knows the one before it. */
const readSpan = async (
  eventLog: IndexSources['eventLog'],
  rows: readonly IndexedEvent[],
): Promise<readonly (readonly RecordedEvent[])[]> => {
  const [first, ...others] = rows.toSorted((one, other) => one.position - other.position);
  if (first === undefined) return [];
  const span = { after: first.position, upTo: others.at(-1)?.position ?? first.position };
  const [begin, rest] = await Promise.all([
    Array.fromAsync(eventLog.read(first.stream, first.version, first.version)),
    Array.fromAsync(readBetween(eventLog, span)),
  ]);
  return [...begin, ...rest];
};

/** Consecutive versions of one stream become one read. */
const runsOf = (
  rows: readonly IndexedEvent[],
): readonly (readonly [stream: StreamName, from: Version, to: Version])[] => {
  const runs: [StreamName, Version, Version][] = [];
  const sorted = rows.toSorted((one, other) =>
    one.stream === other.stream ? one.version - other.version : one.stream < other.stream ? -1 : 1,
  );
  for (const { stream, version } of sorted) {
    const run = runs.at(-1);
    if (run?.[0] === stream && run[2] + 1 === version) run[2] = version;
    else runs.push([stream, version, version]);
  }
  return runs;
};

const changesOf = async (
  sources: IndexSources,
  asked: Asked,
  events: readonly RecordedEvent[],
): Promise<ChangePage> => {
  await asked.meter.onRead(events);
  return openChanges(sources, asked, events);
};

/** Decodes events, and charges for what that reads. */
const openChanges = async (
  { reader, eventLog }: IndexSources,
  { meter }: Asked,
  events: readonly RecordedEvent[],
): Promise<ChangePage> =>
  events.length === 0 ? { changes: [], upTo: START } : reader.ofStream(events, meter.metered(eventLog));
