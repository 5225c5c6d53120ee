import type { EventId } from '#shared/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import { isDamage } from './damage.ts';

/** Finds which updates of users changed a name. What cannot be told, because it was erased or is damaged, is none. */
export const createRenamingFinder = (dependencies: Parameters<typeof createCodec>[0]) => {
  const codec = createCodec(dependencies);

  const among = async (events: readonly RecordedEvent[]): Promise<readonly EventId[]> => {
    const decoded = await codec.decodeAll(events);
    return decoded.filter((event) => event.type === 'user.updated' && typeof event.data.name === 'string').map(({ id }) => id);
  };

  return async (events: readonly RecordedEvent[]): Promise<ReadonlySet<EventId>> => {
    const updates = events.filter(({ type }) => type === 'user.updated');
    if (updates.length === 0) return new Set();
    try {
      return new Set(await among(updates));
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    const found = new Set<EventId>();
    for (const update of updates) for (const id of await among([update]).catch(noneIfDamaged)) found.add(id);
    return found;
  };
};

const noneIfDamaged = (error: unknown): readonly EventId[] => {
  if (isDamage(error)) return [];
  throw error;
};
