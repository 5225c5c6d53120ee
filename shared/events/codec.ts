import type { Domain } from '#kernel/registry/registry.ts';
import type { EventId, Position, StreamName, UserId, Version } from '#shared/brands.ts';
import type { NewEvent, RecordedEvent } from '#shared/event-log/event-log.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { type AnnalsEvent, type AnyEvent, catalogueOf, type EventOf, type EventType } from './catalogue.ts';
import { decode, subjectOf } from './decode.ts';
import { check, sealChecked } from './encode.ts';
import type { EventMetadata, MetadataContext } from './metadata.ts';

/** Between the events that the code knows and those that the log stores: versions, checks, and the sealing of personal fields. */
export type Codec = {
  /** Checks an event, seals its personal fields and gives it its stored form. Throws `KeyDestroyed` for an erased person. */
  encode(event: AnnalsEvent | AnyEvent, context: MetadataContext, id: EventId, stream: StreamName): Promise<NewEvent>;
  encodeAll(stream: StreamName, context: MetadataContext, events: readonly Unencoded[]): Promise<readonly NewEvent[]>;
  /** Opens, upcasts and checks events; the key store is asked once for all of them. */
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
  /** A hash of its personal fields as they are sealed, where it has any: the same after their person was erased. */
  readonly seal?: string;
};

/** An event with its place and its circumstances; narrowing by `type` narrows `data`. */
export type DecodedEvent<Type extends EventType = EventType> = EventOf<Type> & Envelope;

type Dependencies = { readonly keys: Pick<KeyStore, 'obtain' | 'find'>; readonly domain: Domain };

export const createCodec = ({ keys, domain }: Dependencies): Codec => {
  const catalogue = catalogueOf(domain);
  const encodeAll: Codec['encodeAll'] = async (stream, context, events) => {
    const checked = events.map(({ id, event }) => check(catalogue, { id, event, stream, context }));
    const subjects = new Set(checked.flatMap(({ personal }) => personal?.subject ?? []));
    const obtained = new Map(await Promise.all([...subjects].map(async (subject) => [subject, await keys.obtain(subject)] as const)));
    return checked.map((each) => sealChecked(each, obtained));
  };
  return {
    encodeAll,
    async encode(event, context, id, stream) {
      const [encoded] = await encodeAll(stream, context, [{ id, event }]);
      if (encoded === undefined) throw new Error('One event was given and none came back');
      return encoded;
    },
    async decodeAll(recorded) {
      const subjects = new Set<UserId>(recorded.flatMap((event) => subjectOf(event) ?? []));
      const found = subjects.size === 0 ? new Map() : await keys.find(subjects);
      return recorded.map((event) => decode(event, { catalogue, keys: found }));
    },
  };
};
