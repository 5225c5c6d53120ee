import type { Position, StreamName } from '#kernel/base/brands.ts';
import { kindIn } from '#kernel/base/events/streams.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { followingOf as compile, type Following } from '#kernel/decide/reactions.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { Codec } from '#shared/events/codec.ts';
import { type Lead, leadsIn } from '#shared/process-manager/leads.ts';

export type FollowingDependencies = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity' | 'read'>;
  readonly codec: Codec;
  readonly domain: Domain;
  /** By which timers are due; by default that of the database. */
  readonly clock?: Pick<Clock, 'aheadMs'> | undefined;
};

/** Compiled once: every aggregate asks for it. */
export const followingOf = (domain: Domain): Following | undefined => compiled(domain).following;
const compiled = oncePer((domain: Domain) => ({ following: compile(domain) }));

export const kindOf = (domain: Domain, stream: StreamName): Kind | undefined => domain.kinds[kindIn(stream)];

/** The content of the events of an aggregate that is in clear. */
export type StreamHistory = {
  /** Where its references lead, by their stored names, after its events up to a position. */
  readonly references: ReadonlyMap<string, StreamName>;
  readonly isEnded: boolean;
  readonly lastPosition: Position;
  /** Only of an aggregate with timers. */
  readonly events: readonly RecordedEvent[];
};

type Pages = AsyncIterable<readonly RecordedEvent[]> | Iterable<readonly RecordedEvent[]>;

export const foldHistory = async (
  { domain }: FollowingDependencies,
  { stream, pages, upTo }: { readonly stream: StreamName; readonly pages: Pages; readonly upTo: Position },
): Promise<StreamHistory> => {
  const kind = kindOf(domain, stream);
  const endTypes = endTypesOf(domain);
  const isTimed = Object.keys(kind?.timers ?? {}).length > 0;
  const references = new Map<string, StreamName>();
  const events: RecordedEvent[] = [];
  let isEnded = false;
  let lastPosition = START;
  for await (const page of pages)
    for (const event of page) {
      if (isTimed) events.push(event);
      lastPosition = event.position;
      isEnded ||= endTypes.has(event.type);
      if (event.position > upTo) continue;
      for (const { name, parent } of leadsOf(domain, event))
        if (parent === null) references.delete(name);
        else references.set(name, parent);
      if (followingOf(domain)?.ends.has(event.type)) references.clear();
    }
  return { references, isEnded, lastPosition, events };
};

const endTypesOf = oncePer(
  (domain: Domain): ReadonlySet<string> =>
    new Set(
      Object.values(domain.kinds).flatMap(({ events }) =>
        Object.values(events).flatMap(({ effect, type }) => (effect === 'ends' ? [type] : [])),
      ),
    ),
);

/** Where an event makes references of its aggregate lead; nowhere if it is damaged, as for the process manager. */
export const leadsOf = (domain: Domain, event: RecordedEvent): readonly Lead[] => {
  const following = followingOf(domain);
  if (!following?.leads.has(event.type)) return [];
  try {
    return leadsIn(following, catalogueOf(domain), event);
  } catch {
    return [];
  }
};
