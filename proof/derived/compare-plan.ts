import { isDeepStrictEqual } from 'node:util';
import type { EventId, WebhookId } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { type Catalogue, catalogueOf } from '#shared/events/catalogue.ts';
import { decodeClear } from '#shared/events/decode-clear.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';

type Dependencies = { readonly pool: Pool; readonly domain: Domain };

const [MESSAGE, DELIVERY] = ['webhook_ledger.message', 'webhook_ledger.delivery'];

/** Compares what the ledger says of each event with the event: what is sent, and about what. */
export const comparePlan = async (
  { pool, domain }: Dependencies,
  events: readonly RecordedEvent[],
): Promise<readonly DerivedFinding[]> => {
  if (events.length === 0) return [];
  const byId = new Map(events.map((event) => [event.id, event]));
  const catalogue = catalogueOf(domain);
  const found: DerivedFinding[] = [];
  for (const { id, ...message } of await readMessages(pool, [...byId.keys()])) {
    const event = byId.get(id) as RecordedEvent;
    const columns = differing(catalogue, event, message);
    if (columns.length > 0)
      found.push({ kind: 'derived_different', table: MESSAGE, key: id, columns, ...placeOf(event) });
  }
  for (const { id, webhookId, columns } of await readOtherDeliveries(pool, events)) {
    const event = byId.get(id) as RecordedEvent;
    const key = `${webhookId} ${id}`;
    found.push({ kind: 'derived_different', table: DELIVERY, key, columns, ...placeOf(event) });
  }
  return found;
};

const placeOf = ({ stream, version, position }: RecordedEvent) => ({ stream, version, position });

type Message = {
  readonly position: number;
  readonly change: string;
  readonly person: number | null;
};

const readMessages = async (
  pool: Pool,
  ids: readonly EventId[],
): Promise<readonly (Message & { readonly id: EventId })[]> => {
  const { rows } = await pool.query<Message & { id: EventId }>(
    `select event_id as id, position, change, person_id as person from ${MESSAGE} where event_id = any($1)`,
    [ids],
  );
  return rows;
};

/**
 * Rights and facts in a change follow from the declaration of the release that planned it, and data from its
 * version of the type: they are compared only if that version is ours.
 */
const differing = (catalogue: Catalogue, event: RecordedEvent, message: Message): string[] => {
  const change = parsed(message.change);
  const clear = decodeClear(catalogue, event);
  const isOfOurVersion = clear !== undefined && change.schemaVersion === clear.schemaVersion;
  const subject = isOfOurVersion && catalogue.find(event.type)?.personal?.subject;
  const wanted = {
    ...{ id: event.id, position: event.position, stream: event.stream, version: event.version },
    type: event.type,
    ...(clear && { at: clear.at }),
    ...(isOfOurVersion && { data: JSON.parse(JSON.stringify(clear.data)) }),
  };
  const isSame =
    message.position === event.position &&
    Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(change[name], value));
  const person = subject ? clear?.data[subject] : undefined;
  return [
    ...(isSame ? [] : ['change']),
    ...(typeof person === 'number' && message.person !== person ? ['person_id'] : []),
  ];
};

const parsed = (text: string): Readonly<Record<string, unknown>> => {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
};

type OtherDelivery = {
  readonly id: EventId;
  readonly webhookId: WebhookId;
  readonly columns: string[];
};

const LISTED_MAX = 100;

/** There may be very many deliveries of an event, so only those that differ are read. */
const readOtherDeliveries = async (
  pool: Pool,
  events: readonly RecordedEvent[],
): Promise<readonly OtherDelivery[]> => {
  const { rows } = await pool.query<OtherDelivery>(
    `select d.event_id as id, d.webhook_id as "webhookId",
       array_remove(array[case when d.position <> l.position then 'position' end,
         case when d.type <> l.type then 'type' end, case when d.subject <> l.stream then 'subject' end], null) as columns
     from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[]) as l (id, position, type, stream)
       join ${DELIVERY} d on d.event_id = l.id
     where d.position <> l.position or d.type <> l.type or d.subject <> l.stream limit ${LISTED_MAX}`,
    [
      events.map(({ id }) => id),
      events.map(({ position }) => position),
      events.map(({ type }) => type),
      events.map(({ stream }) => stream),
    ],
  );
  return rows;
};
