import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { CATALOGUE, isEventType } from '#shared/events/catalogue.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { JsonObject } from '#shared/json.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { Change } from './change-stream.ts';
import { isDamage } from './damage.ts';

/** The data of a change with its personal fields, `null` where the person was erased. For those alone who may read them. */
export type OpenChange = (change: Change) => Promise<JsonObject>;

type Dependencies = { readonly eventLog: Pick<EventLog, 'read'>; readonly keys: Pick<KeyStore, 'obtain' | 'find'> };

/** Those who ask for the same change at the same time share one look at the log; nothing that is personal is kept. */
export const createChangeOpener = ({ eventLog, keys }: Dependencies): OpenChange => {
  const codec = createCodec({ keys });
  const opening = new Map<string, Promise<JsonObject>>();

  const open = async (change: Change): Promise<JsonObject> => {
    const event = await readEvent(eventLog, change);
    try {
      const [decoded] = await codec.decodeAll([event]);
      return decoded ? (decoded.data as JsonObject) : change.data;
    } catch (error) {
      // What is damaged has nothing more to tell than the change does.
      if (isDamage(error)) return change.data;
      throw error;
    }
  };

  return async (change) => {
    if (!isEventType(change.type) || CATALOGUE[change.type].personal === null) return change.data;
    const shared = opening.get(change.id) ?? open(change).finally(() => opening.delete(change.id));
    opening.set(change.id, shared);
    return shared;
  };
};

const readEvent = async (eventLog: Pick<EventLog, 'read'>, { stream, version, id }: Change): Promise<RecordedEvent> => {
  for await (const [event] of eventLog.read(stream, version)) if (event?.id === id) return event;
  throw new Error(`Version ${version} of ${stream} is not event ${id}: the change is of another log`);
};
