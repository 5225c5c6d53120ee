import type { Position, StreamName } from '#kernel/base/brands.ts';
import { readMetadata } from '#kernel/base/events/metadata.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { followingOf } from '#kernel/decide/reactions.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { Codec } from '#shared/events/codec.ts';
import { partStored } from '#shared/events/personal.ts';
import { upcast } from '#shared/events/upcast.ts';

export type FollowingDependencies = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity' | 'read'>;
  readonly codec: Codec;
  readonly domain: Domain;
  /** By which timers are due; by default that of the database. */
  readonly clock?: Pick<Clock, 'aheadMs'> | undefined;
};

export const kindOf = (domain: Domain, stream: StreamName): Kind | undefined =>
  domain.kinds[stream.slice(0, stream.lastIndexOf('-'))];

/** Where references of an aggregate lead, by their stored names, after its events up to a position. */
export const expectedReferences = async (
  dependencies: FollowingDependencies,
  stream: StreamName,
  upTo: Position,
): Promise<ReadonlyMap<string, StreamName>> => {
  const ends = followingOf(dependencies.domain)?.ends;
  const led = new Map<string, StreamName>();
  for await (const page of dependencies.eventLog.read(stream))
    for (const event of page) {
      if (event.position > upTo) return led;
      for (const { name, parent } of leadsOf(dependencies.domain, event))
        if (parent === null) led.delete(name);
        else led.set(name, parent);
      if (ends?.has(event.type)) led.clear();
    }
  return led;
};

type Lead = { readonly name: string; readonly parent: StreamName | null };

/** Where an event makes references of its aggregate lead; nowhere if it is damaged, as for the process manager. */
export const leadsOf = (domain: Domain, { type, data, metadata }: RecordedEvent): readonly Lead[] => {
  const leads = followingOf(domain)?.leads.get(type) ?? [];
  if (leads.length === 0) return [];
  try {
    const { version, actor } = readMetadata(metadata);
    const definition = catalogueOf(domain).find(type);
    const { clear } = partStored(data);
    const now = definition === undefined ? clear : upcast(definition, version, clear);
    return leads.flatMap(({ targetKind, nameIn, idIn }) => {
      const target = idIn(now, actor);
      if (target === undefined) return [];
      return [{ name: nameIn(now), parent: target === null ? null : streamName(targetKind, Number(target)) }];
    });
  } catch {
    return [];
  }
};
