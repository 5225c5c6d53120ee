import { readMetadata } from '#kernel/base/events/metadata.ts';
import type { Domain, EventInfo, Kind } from '#kernel/registry/registry.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { timeOf } from '#shared/event-log/time-of.ts';

/** The aggregate that a line created or changed, and the item that it added. */
export type Imported = {
  readonly kind: string;
  readonly id: number;
  readonly itemId?: number | string | undefined;
};

/** All that an import needs to know of the log before it continues. */
type Before = {
  readonly keys: Map<string, Imported>;
  /** The greatest time of a change so far; empty if there is none. */
  readonly latest: string;
};

/** The request of an imported event is its line. */
const REQUEST = 'import:';
export const requestOf = (key: string): string => `${REQUEST}${key}`;

/** Reads the whole log: its events say which lines an earlier run has imported. */
export const readBefore = async (domain: Domain, log: EventLog, signal: AbortSignal): Promise<Before> => {
  const keys = new Map<string, Imported & { readonly rank: number }>();
  const types = eventsOf(domain);
  let latest = Number.NEGATIVE_INFINITY;
  for await (const events of readBetween(log, { after: START, upTo: await log.head() }, signal))
    for (const event of events) {
      latest = Math.max(latest, timeOf(event)?.getTime() ?? latest);
      const key = keyOf(event);
      const known = types.get(event.type);
      if (key === undefined || known === undefined) continue;
      const before = keys.get(key);
      const rank = RANKS[known.event.effect] ?? 0;
      // A line may have several events; those of other aggregates come before its own. Other lines name it for
      // that which it began.
      if (rank >= (before?.rank ?? 0)) keys.set(key, { ...importedBy(event, known), rank });
    }
  return { keys, latest: Number.isFinite(latest) ? new Date(latest).toISOString() : '' };
};

const RANKS: Readonly<Partial<Record<string, number>>> = { creates: 2, adds: 1 };

type Known = { readonly kind: Kind; readonly event: EventInfo };

const eventsOf = ({ kinds }: Domain): ReadonlyMap<string, Known> =>
  new Map(
    Object.values(kinds).flatMap((kind) =>
      Object.values(kind.events).map((event) => [event.type, { kind, event }] as const),
    ),
  );

const keyOf = ({ metadata }: RecordedEvent): string | undefined => {
  if (metadata.importedAt === undefined) return undefined;
  const { request } = readMetadata(metadata);
  return request.startsWith(REQUEST) ? request.slice(REQUEST.length) : undefined;
};

const importedBy = ({ data }: RecordedEvent, { kind, event: { list } }: Known): Imported => ({
  kind: kind.name,
  id: Number(data[`${kind.name}Id`]),
  itemId: list && (data[list.id.name] as number | string),
});
