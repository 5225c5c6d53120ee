import type { Cursor } from '#kernel/base/cursor.ts';
import type { Actor, Origin } from '#kernel/base/events/metadata.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { ShownSignature } from '#kernel/base/signature.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { OpenChange } from '#shared/change-stream/open-change.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { cursorOf, type NamingLog } from '#shared/event-log/own-cursor.ts';
import type { Caller } from '#shared/policy.ts';
import { notingChanges } from '#shared/read-log/note-change.ts';
import type { IsReadable } from '#shared/visibility/present-rights.ts';
import { idsIn, visibleTo } from '#shared/visibility/visible-data.ts';
import { visibleOrigin } from '#shared/visibility/visible-origin.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly log: NamingLog;
  readonly open: OpenChange;
  readonly isReadable: IsReadable;
};

/** An event as represented to a caller who may see it; a reader of pages has what was recorded at hand. */
export type RepresentEvent = (
  change: Change,
  caller: Caller,
  recorded?: RecordedEvent,
) => Promise<RepresentedEvent>;

/** The schema `Event` of the OpenAPI document. */
type RepresentedEvent = Partial<Omit<Origin, 'actor'>> & {
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly at: string;
  readonly importedAt?: string;
  readonly reason?: string;
  readonly signature?: ShownSignature;
  readonly cursor: Cursor;
  readonly subject: string;
  readonly actor: Actor | null;
  readonly data: JsonObject;
  readonly parked?: true;
};

export const createRepresentation = ({ domain, log, open, isReadable }: Dependencies): RepresentEvent => {
  const dataFor = async (change: Change, caller: Caller, recorded?: RecordedEvent): Promise<JsonObject> =>
    (await isReadable(caller, change.stream))
      ? visibleTo({ domain, caller, isReadable }, change, await open(change, recorded))
      : idsIn(domain, change, change.data);
  const note = notingChanges(domain);
  return async (change, caller, recorded) => {
    const data = await dataFor(change, caller, recorded);
    note(change, Object.keys(data));
    return representedAs(log, change, caller, data);
  };
};

/**
 * An event for a reader whose token is for the items alone, and not for their history: that it happened, and the
 * ids in it.
 */
export const createBareRepresentation = ({ domain, log }: Pick<Dependencies, 'domain' | 'log'>) => {
  const note = notingChanges(domain);
  return (change: Change, caller: Caller): RepresentedEvent => {
    const { reason: _, signature: _signature, ...known } = change;
    const data = idsIn(domain, change, change.data);
    note(change, Object.keys(data));
    return representedAs(log, { ...known, origin: null }, caller, data);
  };
};

const representedAs = (
  log: NamingLog,
  change: Change,
  caller: Caller,
  data: JsonObject,
): RepresentedEvent => ({
  id: change.id,
  type: change.type,
  version: change.schemaVersion,
  at: change.at,
  ...(change.importedAt !== undefined && { importedAt: change.importedAt }),
  ...(change.reason !== undefined && { reason: change.reason }),
  ...(change.signature !== undefined && { signature: change.signature }),
  cursor: cursorOf(log, change.position, change.id),
  subject: change.stream,
  ...(change.origin ? visibleOrigin(caller, change.origin) : { actor: null }),
  data,
  ...(change.isParked && { parked: true as const }),
});
