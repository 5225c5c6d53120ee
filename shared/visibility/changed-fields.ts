import type { EventId } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { visibilityOf } from '#kernel/visibility/visibility.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { isDamage } from './damage.ts';
import type { Seen } from './history.ts';

/**
 * Decrypts the events whose visibility depends only on sealed fields, such as whether a user’s name was
 * changed. The result lacks erased and damaged events.
 */
export type FindOpened = (seen: readonly Seen[]) => Promise<ReadonlyMap<EventId, JsonObject>>;

type Dependencies = { readonly keys: Pick<KeyStore, 'obtain' | 'find'>; readonly domain: Domain };

export const createOpenedFinder = ({ keys, domain }: Dependencies): FindOpened => {
  const codec = createCodec({ keys, domain });
  const isDecidedBySealed = sealedTypesOf(domain);

  const open = async (
    events: readonly RecordedEvent[],
  ): Promise<readonly (readonly [EventId, JsonObject])[]> =>
    (await codec.decodeAll(events)).map(({ id, data }) => [id, data as JsonObject]);

  return async (seen) => {
    const asked = seen
      .filter(({ event, clear }) => clear !== undefined && isDecidedBySealed.has(event.type))
      .map(({ event }) => event);
    if (asked.length === 0) return new Map();
    try {
      return new Map(await open(asked));
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    const found = new Map<EventId, JsonObject>();
    for (const event of asked)
      for (const [id, data] of await open([event]).catch(noneIfDamaged)) found.set(id, data);
    return found;
  };
};

const sealedTypesOf = (domain: Domain): ReadonlySet<string> => {
  const catalogue = catalogueOf(domain);
  const decided = [...visibilityOf(domain).types].filter(([type, { decidedBy }]) =>
    catalogue.find(type)?.personal?.fields.some((field) => decidedBy.has(field)),
  );
  return new Set(decided.map(([type]) => type));
};

const noneIfDamaged = (error: unknown): readonly [] => {
  if (isDamage(error)) return [];
  throw error;
};
