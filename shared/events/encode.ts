import * as z from 'zod';
import type { EventId, StreamName, UserId } from '#shared/brands.ts';
import type { NewEvent } from '#shared/event-log/event-log.ts';
import type { JsonObject } from '#shared/json.ts';
import type { PersonKey } from '#shared/keys/key-store.ts';
import type { AnnalsEvent, AnyEvent, Catalogue } from './catalogue.ts';
import { checkStream } from './check-stream.ts';
import { MalformedEvent } from './errors.ts';
import { type MetadataContext, storeMetadata } from './metadata.ts';
import { partClear, sealFields } from './personal.ts';
import { reasonOf } from './reason.ts';

/** An event that satisfies its definition, and what of it is to be sealed for whom. */
type Checked = { readonly unsealed: NewEvent; readonly personal: { readonly subject: UserId; readonly fields: JsonObject } | null };

type Encoding = {
  readonly id: EventId;
  readonly event: AnnalsEvent | AnyEvent;
  readonly stream: StreamName;
  readonly context: MetadataContext;
};

/** Comes before any key is asked for, because asking makes one. */
export const check = (catalogue: Catalogue, { id, event, stream, context }: Encoding): Checked => {
  const { type } = event;
  const definition = catalogue.find(type);
  if (definition === undefined) throw new RangeError(`There is no event type ${type}`);
  try {
    const data = definition.schema.parse(event.data) as JsonObject;
    checkStream(definition, stream, data);
    const { clear, personal } = partClear(definition, data);
    const unsealed = { id, type, data: clear, metadata: storeMetadata(definition.version, context) };
    if (personal === null || definition.personal === null) return { unsealed, personal: null };
    // The schema has just checked it.
    const subject = data[definition.personal.subject] as UserId;
    return { unsealed, personal: { subject, fields: personal } };
  } catch (error) {
    if (!(error instanceof z.ZodError || error instanceof RangeError)) throw error;
    throw new MalformedEvent({ type, version: definition.version, id, position: null, reason: reasonOf(error) });
  }
};

/** The stored form, with the keys of all persons it needs at hand. */
export const sealChecked = ({ unsealed, personal }: Checked, keys: ReadonlyMap<UserId, PersonKey>): NewEvent => {
  if (personal === null) return unsealed;
  const key = keys.get(personal.subject);
  if (key === undefined) throw new Error(`The key of person ${personal.subject} was not obtained`);
  return { ...unsealed, data: { ...unsealed.data, personal: sealFields(key, personal.fields, personal.subject, unsealed) } };
};
