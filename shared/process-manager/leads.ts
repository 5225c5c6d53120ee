import type { StreamName } from '#kernel/base/brands.ts';
import { readMetadata } from '#kernel/base/events/metadata.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { Following } from '#kernel/decide/reactions.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';
import { partStored } from '#shared/events/personal.ts';
import { upcast } from '#shared/events/upcast.ts';

/** A reference by its stored name, and its target; null if it has none now. */
export type Lead = { readonly name: string; readonly parent: StreamName | null };

/** Where an event makes references of its aggregate lead. Throws if the event is damaged. */
export const leadsIn = (
  { leads }: Following,
  catalogue: Catalogue,
  { type, data, metadata }: RecordedEvent,
): readonly Lead[] => {
  const { version, actor } = readMetadata(metadata);
  const { clear } = partStored(data);
  const leading = leads.get(type) ?? [];
  if (leading.length === 0) return [];
  const definition = catalogue.find(type);
  const now = definition === undefined ? clear : upcast(definition, version, clear);
  return leading.flatMap(({ targetKind, nameIn, idIn }) => {
    const target = idIn(now, actor);
    if (target === undefined) return [];
    return [{ name: nameIn(now), parent: target === null ? null : streamName(targetKind, Number(target)) }];
  });
};
