import type { LogIdentity, UserId } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { OpenChange } from '#shared/change-stream/open-change.ts';
import { type Cursor, formatCursor } from '#shared/cursor.ts';
import type { JsonObject } from '#shared/json.ts';
import { type Caller, may } from '#shared/policy.ts';
import type { IsReadable } from './present.ts';

type Dependencies = { readonly identity: LogIdentity; readonly open: OpenChange; readonly isReadable: IsReadable };

/** An event as a caller sees it, who may know of it. */
export type RepresentEvent = (change: Change, caller: Caller) => Promise<RepresentedEvent>;

/** As `Event` of the interface says. */
type RepresentedEvent = {
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly at: string;
  readonly cursor: Cursor;
  readonly subject: string;
  readonly data: JsonObject;
  readonly parked?: true;
};

export const createRepresentation = ({ identity, open, isReadable }: Dependencies): RepresentEvent => {
  const dataFor = async (change: Change, caller: Caller): Promise<JsonObject> =>
    (await isReadable(caller, change.stream)) ? visibleTo(caller, change, await open(change)) : idsIn(change.data);
  return async (change, caller) => ({
    id: change.id,
    type: change.type,
    version: change.schemaVersion,
    at: change.at,
    cursor: formatCursor(identity, change.position),
    subject: change.stream,
    data: await dataFor(change, caller),
    ...(change.isParked && { parked: true as const }),
  });
};

/** What of a profile is not everybody's. */
const PRIVATE = new Set(['email', 'role']);

const visibleTo = (caller: Caller, { stream }: Change, data: JsonObject): JsonObject => {
  const [, userId] = /^user-(\d+)$/.exec(stream) ?? [];
  if (userId === undefined || may(caller, 'user.read_private', { ownerId: Number(userId) as UserId })) return data;
  return Object.fromEntries(Object.entries(data).filter(([name]) => !PRIVATE.has(name)));
};

const idsIn = (data: JsonObject): JsonObject => Object.fromEntries(Object.entries(data).filter(([name]) => name.endsWith('Id')));
