import * as z from 'zod';
import type { Membership } from '#kernel/decide/memberships.ts';
import type { EventId, StreamName, Version } from '#shared/brands.ts';
import { StaleVersion } from '#shared/event-log/errors.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { MetadataContext } from '#shared/events/metadata.ts';

type Dependencies = {
  readonly eventLog: Pick<EventLog, 'read' | 'append'>;
  readonly codec: Pick<Codec, 'encode'>;
  readonly memberships: readonly Membership[];
};

export type Ending = { readonly stream: StreamName; readonly eventId: EventId; readonly metadata: MetadataContext };

const ATTEMPTS_MAX = 12;

/**
 * Ends what cannot be without its parent. An article that was published meanwhile stays. Nothing of it is decoded: types and ids are in
 * clear, so that neither a lost key nor one unreadable event keeps a child alive.
 */
export const endChild = async ({ eventLog, codec, memberships }: Dependencies, { stream, eventId, metadata }: Ending): Promise<void> => {
  const membership = memberships.find(({ kind }) => stream.startsWith(`${kind}-`));
  if (membership === undefined) throw new Error(`${stream} belongs to nothing that can be deleted`);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const { version, status, ids } = await readChild(eventLog, stream, membership);
    if (version === undefined || status === undefined || !membership.joins.has(status)) return;
    if (ids === undefined) throw new Error(`No event of ${stream} has all of its ids, so that its end cannot be recorded.`);
    try {
      const event = await codec.encode({ type: membership.end, data: ids } as unknown as AnnalsEvent, metadata, eventId, stream);
      await eventLog.append(stream, version, [event]);
      return;
    } catch (error) {
      if (!(error instanceof StaleVersion)) throw error;
    }
  }
  throw new Error(`Others change ${stream} all the time.`);
};

type Child = { readonly version: Version | undefined; readonly status: string | undefined; readonly ids: unknown };

const readChild = async (eventLog: Pick<EventLog, 'read'>, stream: StreamName, { changes, ids }: Membership): Promise<Child> => {
  const idsOf = z.object(Object.fromEntries(ids.map((name) => [name, z.int().positive()])));
  let last: RecordedEvent | undefined;
  let status: string | undefined;
  let known: unknown;
  for await (const page of eventLog.read(stream)) {
    for (const event of page) {
      last = event;
      if (changes.has(event.type)) status = event.type;
      known ??= idsOf.safeParse(event.data).data;
    }
  }
  return { version: last?.version, status, ids: known };
};
