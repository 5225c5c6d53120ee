// Over 200 lines, because it is one thing: how events are sealed and opened; each half must match the other.
import { hash } from 'node:crypto';
import * as z from 'zod';
import type { EventId, Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import {
  type EventMetadata,
  hasOurFields,
  type MetadataContext,
  readMetadata,
  storeMetadata,
} from '#kernel/base/events/metadata.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { NewEvent, RecordedEvent } from '#shared/event-log/event-log.ts';
import { foreignForm, foreignType, refusedType } from '#shared/event-log/foreign-record.ts';
import type { KeyStore, PersonKey } from '#shared/keys/key-store.ts';
import { SealBroken } from '#shared/keys/seal.ts';
import {
  type AnnalsEvent,
  type AnyEvent,
  type Catalogue,
  catalogueOf,
  type EventOf,
  type EventType,
} from './catalogue.ts';
import { checkStream } from './check-stream.ts';
import { ForeignRecord, KEY_LOST, MalformedEvent, NotAuthentic, UnknownEventType } from './errors.ts';
import { eraseFields, openFields, partClear, partStored, sealFields } from './personal.ts';
import { upcast } from './upcast.ts';

/**
 * Converts between the events that the code knows and those that the log stores: versions, checks, and the
 * sealing of personal fields.
 */
export type Codec = {
  /**
   * Checks an event, seals its personal fields and returns its stored form. Throws `KeyDestroyed` for an
   * erased person.
   */
  encode(
    event: AnnalsEvent | AnyEvent,
    context: MetadataContext,
    id: EventId,
    stream: StreamName,
  ): Promise<NewEvent>;
  encodeAll(
    stream: StreamName,
    context: MetadataContext,
    events: readonly Unencoded[],
  ): Promise<readonly NewEvent[]>;
  /** Opens, upcasts and checks events; asks the key store once for all of them. */
  decodeAll(recorded: readonly RecordedEvent[]): Promise<readonly DecodedEvent[]>;
};

type Unencoded = { readonly id: EventId; readonly event: AnnalsEvent | AnyEvent };

type Envelope = {
  readonly stream: StreamName;
  readonly version: Version;
  readonly position: Position;
  readonly id: EventId;
  readonly recordedAt: Date;
  readonly metadata: EventMetadata;
  /** A hash of its sealed personal fields, if it has any; it survives their erasure. */
  readonly seal?: string;
};

/** An event with its envelope; narrowing by `type` narrows `data`. */
export type DecodedEvent<Type extends EventType = EventType> = EventOf<Type> & Envelope;

type Dependencies = { readonly keys: Pick<KeyStore, 'obtain' | 'find'>; readonly domain: Domain };

export const createCodec = ({ keys, domain }: Dependencies): Codec => {
  const catalogue = catalogueOf(domain);
  const encodeAll: Codec['encodeAll'] = async (stream, context, events) => {
    const checked = events.map(({ id, event }) => check(catalogue, { id, event, stream, context }));
    const subjects = new Set(checked.flatMap(({ personal }) => personal?.subject ?? []));
    const obtained = new Map(
      await Promise.all([...subjects].map(async (subject) => [subject, await keys.obtain(subject)] as const)),
    );
    return checked.map((each) => sealChecked(each, obtained));
  };
  return {
    encodeAll,
    async encode(event, context, id, stream) {
      const [encoded] = await encodeAll(stream, context, [{ id, event }]);
      if (encoded === undefined) throw new Error('Decoding one event returned none');
      return encoded;
    },
    async decodeAll(recorded) {
      const subjects = new Set<UserId>(recorded.flatMap((event) => subjectOf(event) ?? []));
      const found = subjects.size === 0 ? new Map() : await keys.find(subjects);
      return recorded.map((event) => decode(event, { catalogue, keys: found }));
    },
  };
};

type Keys = ReadonlyMap<UserId, PersonKey | 'destroyed'>;

type Decoding = { readonly catalogue: Catalogue; readonly keys: Keys };

/** A recorded event as the code knows it; `keys` has those of all persons in it. */
const decode = (recorded: RecordedEvent, { catalogue, keys }: Decoding): DecodedEvent => {
  const { stream, version, position, id, recordedAt, type } = recorded;
  const definition = catalogue.find(type);
  if (definition === undefined) throw foreignIn(recorded) ?? new UnknownEventType(recorded);
  try {
    const metadata = readMetadata(recorded.metadata);
    const data = readData(definition, recorded, { version: metadata.version, keys });
    // The type identifies the definition that has just checked the data.
    return {
      type,
      data,
      stream,
      version,
      position,
      id,
      recordedAt,
      metadata,
      ...sealIn(recorded),
    } as DecodedEvent;
  } catch (error) {
    if (!(error instanceof z.ZodError || error instanceof RangeError || error instanceof SealBroken))
      throw error;
    const reason = reasonOf(error);
    throw (
      foreignIn(recorded) ?? new MalformedEvent({ type, version: versionOf(recorded), id, position, reason })
    );
  }
};

/** Undefined for an event of ours, of whatever release, even if it was damaged since. */
const foreignIn = ({ type, id, position, metadata }: RecordedEvent): ForeignRecord | undefined => {
  if (hasOurFields(metadata)) return undefined;
  const claimed = refusedType({ type, metadata });
  if (claimed !== undefined) return new NotAuthentic({ type: claimed, id, position });
  const reason = foreignForm(metadata) ?? 'its metadata lacks fields that Annals always writes';
  return new ForeignRecord({ type: foreignType({ type, metadata }) ?? type, id, position, reason });
};

const sealIn = ({ data: { personal } }: RecordedEvent): { readonly seal?: string } =>
  typeof personal === 'object' && personal !== null && 'sealed' in personal
    ? { seal: hash('sha256', String(personal.sealed), 'base64url') }
    : {};

/** The person whose key opens an event; decoding finds every other fault. */
export const subjectOf = ({ data }: Pick<RecordedEvent, 'data'>): UserId | null => {
  const { personal } = data;
  if (typeof personal !== 'object' || personal === null || !('subject' in personal)) return null;
  return Number.isSafeInteger(personal.subject) ? (personal.subject as UserId) : null;
};

const readData = (
  definition: EventDefinition,
  recorded: RecordedEvent,
  { version, keys }: { version: number; keys: Keys },
): JsonObject => {
  const { clear, personal } = partStored(recorded.data);
  const key = personal === null ? undefined : keys.get(personal.subject);
  if (personal !== null && key === undefined) throw new RangeError(KEY_LOST);
  if (version === definition.version) checkNothingInClear(definition, clear);
  const isErased = key === 'destroyed';
  const isOpen = personal !== null && key !== undefined && key !== 'destroyed';
  const current = upcast(
    definition,
    version,
    isOpen ? { ...clear, ...openFields(key, personal, recorded) } : clear,
  );
  const data = isErased
    ? definition.erasedSchema.parse(eraseFields(definition, current))
    : definition.schema.parse(current);
  const checked = data as JsonObject;
  checkStream(definition, recorded.stream, checked);
  if (
    personal !== null &&
    definition.personal !== null &&
    checked[definition.personal.subject] !== personal.subject
  ) {
    throw new RangeError('it is sealed for a person other than its subject');
  }
  return checked;
};

/** Data that is recorded in clear can never be erased, so it is no personal field, however it got there. */
const checkNothingInClear = (definition: EventDefinition, clear: JsonObject): void => {
  const field = definition.personal?.fields.find((name) => Object.hasOwn(clear, name));
  if (field !== undefined) throw new RangeError(`${field} is not sealed`);
};

const versionOf = ({ metadata }: RecordedEvent): number | null =>
  typeof metadata.version === 'number' ? metadata.version : null;

/** An event that satisfies its definition, and the fields to seal for its person. */
type Checked = {
  readonly unsealed: NewEvent;
  readonly personal: { readonly subject: UserId; readonly fields: JsonObject } | null;
};

type Encoding = {
  readonly id: EventId;
  readonly event: AnnalsEvent | AnyEvent;
  readonly stream: StreamName;
  readonly context: MetadataContext;
};

/** Precedes any look-up of a key, because a look-up creates one. */
const check = (catalogue: Catalogue, { id, event, stream, context }: Encoding): Checked => {
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
    throw new MalformedEvent({
      type,
      version: definition.version,
      id,
      position: null,
      reason: reasonOf(error),
    });
  }
};

/** The stored form; `keys` has those of all persons in it. */
const sealChecked = ({ unsealed, personal }: Checked, keys: ReadonlyMap<UserId, PersonKey>): NewEvent => {
  if (personal === null) return unsealed;
  const key = keys.get(personal.subject);
  if (key === undefined) throw new Error(`The key of person ${personal.subject} was not obtained`);
  return {
    ...unsealed,
    data: { ...unsealed.data, personal: sealFields(key, personal.fields, personal.subject, unsealed) },
  };
};

/** The fault, by fields and rules: a message of zod’s could quote content, its paths and codes do not. */
const reasonOf = (error: Error): string =>
  error instanceof z.ZodError
    ? error.issues.map(({ path, code }) => `${path.join('.') || 'the whole'} (${code})`).join(', ')
    : error.message;
