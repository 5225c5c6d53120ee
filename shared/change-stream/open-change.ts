import { formatCursor } from '#kernel/base/cursor.ts';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import { positionHere, withCursors } from '#kernel/base/events/log-positions.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { isDamage } from '../visibility/damage.ts';
import type { Change } from './change-stream.ts';
import { ofThisRelease } from './of-this-release.ts';

/**
 * The data of a change for clients that may read it: with its personal fields (`null` if the person was
 * erased), without concealed ones, and with positions in the log as cursors. Given the event that the change
 * was made of, it needs no read of the log.
 */
export type OpenChange = (change: Change, recorded?: RecordedEvent) => Promise<JsonObject>;

type Dependencies = {
  readonly eventLog: Pick<EventLog, 'identity' | 'read'>;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly domain: Domain;
};

/** Concurrent requests for one change share one read of the log; no personal data is cached. */
export const createChangeOpener = ({ eventLog, keys, domain }: Dependencies): OpenChange => {
  const codec = createCodec({ keys, domain });
  const catalogue = catalogueOf(domain);
  const opening = new Map<string, Promise<JsonObject>>();

  const open = async (change: Change, recorded?: RecordedEvent): Promise<JsonObject> => {
    const event = recorded ?? (await readEvent(eventLog, change));
    try {
      const [decoded] = await codec.decodeAll([event]);
      return decoded
        ? withoutConcealed(catalogue.find(decoded.type), decoded.data as JsonObject)
        : change.data;
    } catch (error) {
      // A damaged event has no more data than the change.
      if (isDamage(error)) return change.data;
      throw error;
    }
  };

  const openShared = (change: Change): Promise<JsonObject> => {
    const shared = opening.get(change.id) ?? open(change).finally(() => opening.delete(change.id));
    opening.set(change.id, shared);
    return shared;
  };

  return async (change, recorded) => {
    const definition = catalogue.find(change.type);
    if (definition === undefined) return change.data;
    const { personal, schema } = definition;
    const data =
      personal === null
        ? ofThisRelease(catalogue, change).data
        : await (recorded === undefined ? openShared(change) : open(change, recorded));
    const { identity: log } = eventLog;
    return withCursors(schema, data, (position, isEnd) =>
      formatCursor(log, positionHere(position, { log, elsewhere: isEnd ? change.position : START })),
    );
  };
};

const withoutConcealed = (definition: EventDefinition | undefined, data: JsonObject): JsonObject => {
  const { concealed } = definition?.personal ?? {};
  return concealed
    ? Object.fromEntries(Object.entries(data).filter(([name]) => !concealed.includes(name)))
    : data;
};

const readEvent = async (
  eventLog: Pick<EventLog, 'read'>,
  { stream, version, id }: Change,
): Promise<RecordedEvent> => {
  for await (const [event] of eventLog.read(stream, version, version)) if (event?.id === id) return event;
  throw new Error(`Version ${version} of ${stream} is not event ${id}: the change is of another log`);
};
