import type { StreamName } from '#kernel/base/brands.ts';
import { kindIn, streamName } from '#kernel/base/events/streams.ts';
import type { Json, JsonObject } from '#kernel/base/json.ts';
import { targetOf, wire } from '#kernel/base/names.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { recordedKindsOf } from '#kernel/webhook/managed-kinds.ts';

/** The streams that an event names. */
export type StreamReferences = {
  /** The owner or parent of the stream; for a claim, its holder. */
  readonly owners: readonly StreamName[];
  /** Every aggregate that the event refers to, its owners among them. */
  readonly all: readonly StreamName[];
  /** A claim is recorded before the first event of its holder. */
  readonly isBeforeOwner?: boolean;
};

type Happened = { readonly stream: StreamName; readonly data: JsonObject; readonly metadata: JsonObject };

/** Reads what is in clear. References inside of personal fields do not exist. */
export const streamReferencesOf = (domain: Domain): ((event: Happened) => StreamReferences) => {
  const named = new Map(recordedKindsOf(domain).map((kind) => [kind.name, keysOf(kind)]));
  return (event) => {
    const kind = kindIn(event.stream);
    const keys = named.get(kind);
    if (keys === undefined) {
      const holders = holdersOf(kind, event);
      return { owners: holders, all: holders, isBeforeOwner: holderVersionOf(kind, event) === 0 };
    }
    const found = keys.flatMap(({ key, target, isOwner }) => {
      const id = event.data[key];
      return typeof id === 'number' ? [{ stream: streamName(target, id), isOwner }] : [];
    });
    return {
      owners: found.filter(({ isOwner }) => isOwner).map(({ stream }) => stream),
      all: found.map(({ stream }) => stream),
    };
  };
};

type Key = { readonly key: string; readonly target: string; readonly isOwner: boolean };

const keysOf = ({ fields, lists, owner, parent }: Kind): readonly Key[] => {
  const ofFields = Object.entries(fields).map(([name, def]) => ({
    key: wire(name, def),
    def,
    isOwner: name === owner || name === parent,
  }));
  const ofItems = Object.values(lists).flatMap((list) => [
    { key: list.id.name, def: list.id.def, isOwner: false },
    ...Object.entries(list.fields).map(([name, def]) => ({ key: wire(name, def), def, isOwner: false })),
  ]);
  return [...ofFields, ...ofItems].flatMap(({ key, def, isOwner }) =>
    def.kind === 'ref' ? [{ key, target: targetOf(def), isOwner }] : [],
  );
};

/** The version of its holder that a claim was made for. */
const holderVersionOf = (kind: string, { data }: Happened): Json | undefined =>
  kind === 'limit' ? data.version : data.userVersion;

const ACTING_USER = /^user:(\d+)$/;

/** Of streams that are no aggregates of the domain: whose e-mail address, place or idempotency key it is. */
const holdersOf = (kind: string, { data, metadata }: Happened): readonly StreamName[] => {
  switch (kind) {
    case 'email':
      return typeof data.userId === 'number' ? [streamName('user', data.userId)] : [];
    case 'limit': {
      const [holder = ''] = String(data.limit).split('.', 1);
      return typeof data.id === 'number' ? [streamName(holder, data.id)] : [];
    }
    case 'command': {
      const [, user] = ACTING_USER.exec(String(metadata.actor)) ?? [];
      return user === undefined ? [] : [streamName('user', user)];
    }
    default:
      return [];
  }
};
