import type { UserId } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { attributesOf } from '#kernel/conditions/attributes.ts';
import type { Attributes } from '#kernel/conditions/holds.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';

/**
 * The fields of a person that rights compare, as of the log; undefined, without a read, in a domain without
 * such rights.
 */
export type ReadAttributes = (userId: UserId) => Promise<Attributes | undefined>;

type Dependencies = {
  readonly domain: Domain;
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly codec: Codec;
};

export const createReadAttributes = ({ domain, eventLog, codec }: Dependencies): ReadAttributes => {
  const asked = attributesOf(domain);
  return async (userId) => {
    if (asked.length === 0) return undefined;
    const known: Record<string, Attributes[string]> = {};
    for (const { name, def } of asked) known[name] = (def.initial ?? null) as Attributes[string];
    for await (const page of eventLog.read(streamName('user', userId)))
      for (const { data } of await codec.decodeAll(page))
        for (const { name, wire } of asked) {
          const value = (data as Partial<Attributes>)[wire];
          if (value !== undefined) known[name] = value;
        }
    return known;
  };
};
