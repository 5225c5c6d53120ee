import type { EventId } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Link } from '#kernel/base/rest/fields.ts';
import { pathEventId } from '#kernel/base/rest/path-id.ts';
import { servedKindsOf } from '#kernel/webhook/managed-kinds.ts';
import type { Change, ChangeStream } from '#shared/change-stream/change-stream.ts';
import {
  type ChangeReader,
  type ChangeReaderOptions,
  createChangeReader,
} from '#shared/change-stream/changes.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { type Caller, mayAlways } from '#shared/policy.ts';
import { cloudEventOf } from '#shared/rest/cloud-events.ts';
import type { EventTrace, RecordedEvent as Shown } from '#shared/rest/recorded-event.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import { visibleOrigin } from '#shared/visibility/visible-origin.ts';
import { mayProve } from '../kinds/may-prove.ts';
import type { PlaceInChain, Proof } from '../proof.ts';
import { type Charge, createMeter } from '../rest/meter.ts';
import type { Reader, Reads } from '../rest/read-routes.ts';
import { readFailureOf } from '../rows/statement.ts';
import type { DeliveriesOf } from './deliveries.ts';
import { matcherOf } from './filter.ts';
import { findEvent } from './find-event.ts';
import { walkIndexed } from './indexed.ts';
import { readPage } from './page.ts';
import type { RepresentEvent } from './representation.ts';

type Dependencies = Pick<ChangeReaderOptions, 'domain' | 'keys' | 'snapshots'> & {
  readonly pool: Pool;
  readonly changes: Pick<ChangeStream, 'head'>;
  readonly eventLog: Pick<EventLog, 'identity' | 'read' | 'follow'>;
  readonly represent: RepresentEvent;
  readonly proof: Pick<Proof, 'placeInChain'> | undefined;
  readonly deliveriesOf?: DeliveriesOf | undefined;
  /** The URL by which clients know this installation. */
  readonly publicUrl: string;
};

/** One event with everything known about it, and the events that followed from the same request. */
export const recordedEventReads = (
  dependencies: Dependencies,
): Reads<'getRecordedEvent' | 'traceRecordedEvent'> => {
  const { domain, pool, represent, proof, deliveriesOf = noDeliveries, publicUrl } = dependencies;
  const reader = createChangeReader(dependencies);
  const catalogue = catalogueOf(domain);
  const known = async ({ id, caller, charge }: Reader): Promise<Known> => {
    const eventId = pathEventId(id);
    const event = eventId && (await findEvent(dependencies, eventId));
    const change = event && (await changeOf({ ...dependencies, reader }, event, charge));
    if (event === undefined || change === undefined || !maySee(caller, change))
      throw new Rejection('event_not_found');
    return { event, change };
  };
  return {
    async getRecordedEvent(asking) {
      const { caller } = asking;
      const { event, change } = await known(asking);
      const [shown, chain, deliveries] = await Promise.all([
        represent(change, caller),
        mayAlways(caller, 'events.export') ? proof?.placeInChain(pool, event).catch(asFailure) : undefined,
        deliveriesOf(caller, [change.id]),
      ]);
      const item: ShownEvent = {
        ...shown,
        streamVersion: change.version,
        ...withChain(chain),
        ...deliveries,
        _links: linksOf(domain, caller, change),
      };
      const cloudEvents = () => cloudEventOf({ ...shown }, publicUrl);
      return { kind: 'item', version: undefined, item, cloudEvents };
    },

    async traceRecordedEvent(asking) {
      const { caller, charge } = asking;
      const { change } = await known(asking);
      const seen = change.origin === null ? undefined : visibleOrigin(caller, change.origin);
      const correlation = seen !== undefined && 'correlation' in seen ? seen.correlation : undefined;
      const found =
        correlation === undefined
          ? { changes: [change], isLast: true }
          : await following(correlation, caller, charge);
      const events = await Promise.all(found.changes.map((each) => represent(each, caller)));
      const item: Traced = {
        ...(correlation !== undefined && { correlation }),
        events,
        truncated: !found.isLast,
        ...(await deliveriesOf(
          caller,
          found.changes.map(({ id }) => id),
        )),
        _links: { self: { href: `${pathOf(change.id)}/trace` }, event: { href: pathOf(change.id) } },
      };
      return { kind: 'item', version: undefined, item };
    },
  };

  async function following(correlation: string, caller: Caller, charge: Charge) {
    const upTo = await dependencies.changes.head();
    const matches = matcherOf(catalogue, { correlation });
    const span = { after: START, upTo, order: 'asc' as const };
    const walk = await walkIndexed(
      { ...dependencies, reader },
      { ...span, query: { correlation }, isSearch: false, meter: createMeter(charge) },
    );
    return readPage(walk, {
      ...{ ...span, limit: TRACED_MAX, lookedAtMax: TRACED_LOOKED_AT_MAX },
      isWanted: (each) => matches(each, caller) && maySee(caller, each),
    });
  }
};

/** Few requests cause more events, and nobody reads more at once. */
const TRACED_MAX = 200;
const TRACED_LOOKED_AT_MAX = 2_000;

type ShownEvent = Omit<Shown, 'data'> & { readonly data: JsonObject };
type Traced = Omit<EventTrace, 'events'> & { readonly events: readonly object[] };

const noDeliveries: DeliveriesOf = async () => ({});

type Known = { readonly event: RecordedEvent; readonly change: Change };

const asFailure = (cause: unknown): never => {
  throw readFailureOf(cause);
};

const withChain = (chain: PlaceInChain | undefined) => chain && { chain };

type Reading = Pick<Dependencies, 'eventLog'> & { readonly reader: ChangeReader };

const changeOf = async (
  { reader, eventLog }: Reading,
  event: RecordedEvent,
  charge: Charge,
): Promise<Change | undefined> =>
  (await reader.ofStream([event], createMeter(charge).metered(eventLog))).changes[0];

const pathOf = (id: EventId): string => `/events/${id}`;

const linksOf = (
  domain: Dependencies['domain'],
  caller: Caller,
  { id, type, stream, origin }: Change,
): Record<string, Link> => {
  const [, kind = '', itemId] = /^(\w+)-([1-9]\d*)$/.exec(stream) ?? [];
  const path =
    itemId === undefined ? undefined : servedKindsOf(domain).find(({ name }) => name === kind)?.path;
  const seen = origin === null ? undefined : visibleOrigin(caller, origin);
  const cause = seen !== undefined && 'causation' in seen ? seen.causation : undefined;
  return {
    self: { href: pathOf(id) },
    trace: { href: `${pathOf(id)}/trace` },
    schema: { href: `/event-types?type=${encodeURIComponent(type)}` },
    ...(path !== undefined && {
      item: { href: `/${path}/${itemId}` },
      history: { href: `/${path}/${itemId}/history` },
    }),
    ...(mayProve(domain, caller) && { proof: { href: `${pathOf(id)}/proof` } }),
    ...(cause != null && { cause: { href: pathOf(cause as EventId) } }),
  };
};
