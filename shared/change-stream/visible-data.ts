import type { StreamName } from '#shared/brands.ts';
import { kindOfStream } from '#shared/events/streams.ts';
import type { JsonObject } from '#shared/json.ts';
import { type Caller, may } from '#shared/policy.ts';

/** What of the data of a change a caller gets to see, who may read what it happened to. */
export const visibleTo = (caller: Caller, stream: StreamName, data: JsonObject): JsonObject =>
  seesAll(caller, stream) ? data : withoutPrivate(data);

/** Whether nothing of it is kept from them. */
export const seesAll = (caller: Caller, stream: StreamName): boolean => {
  const kind = kindOfStream(stream);
  if (kind !== 'user') return kind !== undefined;
  return may(caller, 'user.read_private', { fields: { id: Number(stream.slice(kind.length + 1)) } });
};

/** What of a profile is not everybody's. */
const PRIVATE = new Set(['email', 'role']);

export const withoutPrivate = (data: JsonObject): JsonObject => only(data, (name) => !PRIVATE.has(name));

/** All that is left for whoever may know of it and not read it. */
export const idsIn = (data: JsonObject): JsonObject => only(data, (name) => name.endsWith('Id'));

const only = (data: JsonObject, isMeant: (name: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(data).filter(([name]) => isMeant(name)));
