import * as z from 'zod';
import type { EventId, UserId } from '#kernel/base/brands.ts';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import { userId } from '#kernel/base/events/fields.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { PersonKey } from '#shared/keys/key-store.ts';
import { seal, unseal } from '#shared/keys/seal.ts';

/** The stored form of personal fields. Its first character identifies the format of the rest. */
const FORMAT = '1.';
const sealedFields = z.strictObject({ subject: userId, sealed: z.string().startsWith(FORMAT) });

/** The event that personal fields are bound to: they open in no other. */
type EventIdentity = { readonly id: EventId; readonly type: string };

type StoredData = {
  readonly clear: JsonObject;
  readonly personal: { readonly subject: UserId; readonly sealed: string } | null;
};

/** Splits stored data; throws zod’s error if the personal part is malformed. */
export const partStored = (data: JsonObject): StoredData => {
  // Most events hold no personal data, and every follower reads every event: those are returned as they are.
  if (data.personal === undefined) return { clear: data, personal: null };
  const { personal, ...clear } = data;
  return { clear, personal: sealedFields.parse(personal) };
};

/** Splits clear data into the part that stays in clear and the part to seal, `null` if there is none. */
export const partClear = (
  definition: EventDefinition,
  data: JsonObject,
): { readonly clear: JsonObject; readonly personal: JsonObject | null } => {
  if (definition.personal === null) return { clear: data, personal: null };
  const names = new Set(definition.personal.fields);
  const clear = Object.fromEntries(Object.entries(data).filter(([name]) => !names.has(name)));
  const personal = Object.fromEntries(Object.entries(data).filter(([name]) => names.has(name)));
  return { clear, personal: Object.keys(personal).length === 0 ? null : personal };
};

export const sealFields = (
  key: PersonKey,
  personal: JsonObject,
  subject: UserId,
  event: EventIdentity,
): JsonObject => {
  const sealed = seal(key, Buffer.from(JSON.stringify(personal)), boundTo(subject, event));
  return { subject, sealed: FORMAT + sealed.toString('base64url') };
};

/** Throws `SealBroken` if anything was changed. The schema of the event checks the fields themselves. */
export const openFields = (
  key: PersonKey,
  { subject, sealed }: NonNullable<StoredData['personal']>,
  event: EventIdentity,
): JsonObject => {
  const plain = unseal(key, Buffer.from(sealed.slice(FORMAT.length), 'base64url'), boundTo(subject, event));
  const fields: unknown = JSON.parse(plain.toString('utf8'));
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw new RangeError('the sealed content is not an object');
  return fields as JsonObject;
};

/** After an erasure every personal field is present and `null`. */
export const eraseFields = ({ personal }: EventDefinition, data: JsonObject): JsonObject =>
  personal === null ? data : { ...data, ...Object.fromEntries(personal.fields.map((name) => [name, null])) };

const boundTo = (subject: UserId, { id, type }: EventIdentity): string => JSON.stringify([id, type, subject]);
