import { hash } from 'node:crypto';
import * as z from 'zod';
import type { UserId } from '#shared/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { JsonObject } from '#shared/json.ts';
import type { PersonKey } from '#shared/keys/key-store.ts';
import { SealBroken } from '#shared/keys/seal.ts';
import type { Catalogue } from './catalogue.ts';
import { checkStream } from './check-stream.ts';
import type { DecodedEvent } from './codec.ts';
import type { EventDefinition } from './define-event.ts';
import { KEY_LOST, MalformedEvent, UnknownEventType } from './errors.ts';
import { readMetadata } from './metadata.ts';
import { eraseFields, openFields, partStored } from './personal.ts';
import { reasonOf } from './reason.ts';
import { upcast } from './upcast.ts';

type Keys = ReadonlyMap<UserId, PersonKey | 'destroyed'>;

type Decoding = { readonly catalogue: Catalogue; readonly keys: Keys };

/** A recorded event as the code knows it, with the keys of all persons it needs at hand. */
export const decode = (recorded: RecordedEvent, { catalogue, keys }: Decoding): DecodedEvent => {
  const { stream, version, position, id, recordedAt, type } = recorded;
  const definition = catalogue.find(type);
  if (definition === undefined) throw new UnknownEventType(recorded);
  try {
    const metadata = readMetadata(recorded.metadata);
    const data = readData(definition, recorded, { version: metadata.version, keys });
    // The type names the definition that has just checked the data.
    return { type, data, stream, version, position, id, recordedAt, metadata, ...sealIn(recorded) } as DecodedEvent;
  } catch (error) {
    if (!(error instanceof z.ZodError || error instanceof RangeError || error instanceof SealBroken)) throw error;
    throw new MalformedEvent({ type, version: versionOf(recorded), id, position, reason: reasonOf(error) });
  }
};

const sealIn = ({ data: { personal } }: RecordedEvent): { readonly seal?: string } =>
  typeof personal === 'object' && personal !== null && 'sealed' in personal
    ? { seal: hash('sha256', String(personal.sealed), 'base64url') }
    : {};

/** Whose key is needed to open an event; whatever else is wrong with it is found when it is decoded. */
export const subjectOf = ({ data }: RecordedEvent): UserId | null => {
  const { personal } = data;
  if (typeof personal !== 'object' || personal === null || !('subject' in personal)) return null;
  return Number.isSafeInteger(personal.subject) ? (personal.subject as UserId) : null;
};

const readData = (definition: EventDefinition, recorded: RecordedEvent, { version, keys }: { version: number; keys: Keys }): JsonObject => {
  const { clear, personal } = partStored(recorded.data);
  const key = personal === null ? undefined : keys.get(personal.subject);
  if (personal !== null && key === undefined) throw new RangeError(KEY_LOST);
  if (version === definition.version) checkNothingInClear(definition, clear);
  const isErased = key === 'destroyed';
  const opened = personal === null || key === undefined || key === 'destroyed' ? {} : openFields(key, personal, recorded);
  const current = upcast(definition, version, { ...clear, ...opened });
  const data = isErased ? definition.erasedSchema.parse(eraseFields(definition, current)) : definition.schema.parse(current);
  const checked = data as JsonObject;
  checkStream(definition, recorded.stream, checked);
  if (personal !== null && definition.personal !== null && checked[definition.personal.subject] !== personal.subject) {
    throw new RangeError('it is sealed for another person than it is about');
  }
  return checked;
};

/** What is recorded in clear can never be erased, so it is no personal field, however it came there. */
const checkNothingInClear = (definition: EventDefinition, clear: JsonObject): void => {
  const field = definition.personal?.fields.find((name) => Object.hasOwn(clear, name));
  if (field !== undefined) throw new RangeError(`${field} is not sealed`);
};

const versionOf = ({ metadata }: RecordedEvent): number | null => (typeof metadata.version === 'number' ? metadata.version : null);
