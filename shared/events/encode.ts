import * as z from 'zod';
import type { EventId, StreamName, UserId } from '#shared/brands.ts';
import type { NewEvent } from '#shared/event-log/event-log.ts';
import type { JsonObject } from '#shared/json.ts';
import type { PersonKey } from '#shared/keys/key-store.ts';
import { type AnnalsEvent, CATALOGUE } from './catalogue.ts';
import { checkStream } from './check-stream.ts';
import type { EventDefinition } from './define-event.ts';
import { MalformedEvent } from './errors.ts';
import { type MetadataContext, storeMetadata } from './metadata.ts';
import { partClear, sealFields } from './personal.ts';
import { reasonOf } from './reason.ts';

type Encoding = { readonly id: EventId; readonly event: AnnalsEvent; readonly stream: StreamName; readonly context: MetadataContext };

/** The stored form of one event, with the keys of all persons it needs at hand. */
export const encode = ({ id, event, stream, context }: Encoding, keys: ReadonlyMap<UserId, PersonKey>): NewEvent => {
  const { type } = event;
  const definition: EventDefinition = CATALOGUE[type];
  try {
    checkStream(definition, stream, event.data);
    const { clear, personal } = partClear(definition, definition.schema.parse(event.data) as JsonObject);
    const metadata = storeMetadata(definition.version, context);
    const subject = subjectToSealFor(event);
    if (personal === null || subject === null) return { id, type, data: clear, metadata };
    const key = keys.get(subject);
    if (key === undefined) throw new RangeError('the key of its person was not obtained');
    return { id, type, data: { ...clear, personal: sealFields(key, personal, subject, { id, type }) }, metadata };
  } catch (error) {
    if (!(error instanceof z.ZodError || error instanceof RangeError)) throw error;
    throw new MalformedEvent({ type, version: definition.version, id, position: null, reason: reasonOf(error) });
  }
};

/** Whose key the event needs, if it has personal fields at all. */
export const subjectToSealFor = (event: AnnalsEvent): UserId | null => {
  const definition: EventDefinition = CATALOGUE[event.type];
  const data: JsonObject = event.data;
  if (definition.personal === null || !definition.personal.fields.some((field) => Object.hasOwn(data, field))) return null;
  return data[definition.personal.subject] as UserId;
};
