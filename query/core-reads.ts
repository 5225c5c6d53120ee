import { logsReads } from '#kernel/registry/logs-reads.ts';
import { ofAggregates } from '#shared/rest/operations.ts';
import { whenAsked } from '#shared/when-asked.ts';
import type { HistoryOptions } from './history/history.ts';
import { type KindReads, readsOf } from './reads/reads.ts';
import type { QueryResources } from './resources.ts';
import type { AnyReads, Reader, Reads } from './rest/read-routes.ts';
import type { PastOptions } from './time-travel/options.ts';
import { timeTravelReads } from './time-travel/reads.ts';

type Past = PastOptions & HistoryOptions;

/** The reads of items and lists, now and then. */
export const itemReads = (kinds: KindReads, past: Past) => ({
  ...readsOf(past.domain, kinds),
  ...timeTravelReads(kinds, past),
});

/**
 * The reads of every installation: the type requires every kernel operation that this role serves, so the
 * compiler names a missing one. Only those of items and lists are loaded before somebody asks for them.
 */
export const coreReads = (
  kinds: KindReads,
  past: Past,
  resources: Pick<QueryResources, 'events' | 'erasures' | 'blobs'>,
): Reads & AnyReads => {
  const { events } = resources;
  const histories = whenAsked(async () => (await import('./history/reads.ts')).historyReads(kinds, past));
  const reads = {
    ...readsWhenAsked(historiesIn(past), histories),
    ...itemReads(kinds, past),
    ...readsWhenAsked(['listUserHistory'], histories),
    ...readsWhenAsked(
      readersIn(past),
      whenAsked(async () => (await import('./read-log/reads.ts')).readLogReads({ ...past, kinds })),
    ),
    ...readsWhenAsked(
      ['listEvents', 'getRecordedEvent', 'traceRecordedEvent'],
      async () => (await events()).reads,
    ),
    ...readsWhenAsked(
      [
        'getOperations',
        'getOperationsSamples',
        'listParkedItems',
        'listParkedConsequences',
        'listTimers',
        'listHolds',
        'listSchedules',
        'listOrders',
        'getOrder',
      ],
      whenAsked(async () => (await import('./operations/reads.ts')).operationsReads(past)),
    ),
    ...readsWhenAsked(
      ['listEventTypes'],
      whenAsked(async () => (await import('./event-types/event-types.ts')).eventTypeReads(past.domain)),
    ),
    ...readsWhenAsked(
      ['getErasureOfUser'],
      whenAsked(async () => (await import('./erasure/reads.ts')).erasureReads({ ...past, ...resources })),
    ),
  };
  return reads;
};

const historiesIn = ({ domain }: Past): readonly string[] =>
  ofAggregates(domain).flatMap(([id, { use }]) => (use.does === 'history' ? [id] : []));

/** Of aggregates whose reads are logged. */
const readersIn = ({ domain }: Past): readonly string[] =>
  logsReads(domain)
    ? [
        ...ofAggregates(domain).flatMap(([id, { use }]) => (use.does === 'readers' ? [id] : [])),
        'listReadsOfUser',
      ]
    : [];

type AnyRead = (reader: Reader, asked: never) => Promise<unknown>;

/** Reads by their operation ids, whose code `load` loads with the first request for one of them. */
const readsWhenAsked = <const Id extends string, Found extends Readonly<Record<Id, AnyRead>>>(
  ids: readonly Id[],
  load: () => Promise<Found>,
): { readonly [Each in Id]: Found[Each] } => {
  const read =
    (id: Id): AnyRead =>
    async (reader, asked) =>
      (await load())[id](reader, asked);
  // The compiler cannot see that each id gets its own read.
  return Object.fromEntries(ids.map((id) => [id, read(id)])) as unknown as {
    readonly [Each in Id]: Found[Each];
  };
};
