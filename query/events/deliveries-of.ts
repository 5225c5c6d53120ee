import type { EventId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { SeeingLog } from '#shared/event-log/own-cursor.ts';
import { admit, type Caller, may } from '#shared/policy.ts';
import type { Delivery } from '#shared/rest/deliveries.ts';
import { listDeliveriesOfEvents } from '#shared/webhooks/deliveries.ts';
import { representDelivery } from '#shared/webhooks/representation.ts';
import { createItemFinder } from '../kinds/find.ts';
import { type ItemRow, resourceIn } from '../kinds/rows.ts';
import { sourcesOf } from '../rows/sources.ts';
import { readFailureOf } from '../rows/statement.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: SeeingLog;
};

/**
 * The deliveries of events to webhooks that the caller may manage; no `deliveries` for callers who may manage
 * none.
 */
type DeliveriesOf = (
  caller: Caller,
  events: readonly EventId[],
) => Promise<{ readonly deliveries?: Delivery[] }>;

export const createDeliveriesOf = ({ domain, pool, eventLog }: Dependencies): DeliveriesOf => {
  const { webhooks } = sourcesOf(domain);
  const findItem = createItemFinder(pool, webhooks);
  const mayManage = (caller: Caller) => (row: ItemRow) =>
    may(caller, webhooks.right, resourceIn(webhooks, row));
  return async (caller, events) => {
    if (admit(caller, webhooks.right) !== 'allowed') return {};
    const rows = await listDeliveriesOfEvents(pool, events, DELIVERIES_MAX).catch(orNone);
    const ids = [...new Set(rows.map(({ webhook_id }) => webhook_id))];
    const seen = await Promise.all(ids.map((id) => findItem(id, mayManage(caller)).catch(orAbsent)));
    const byId = new Map(
      seen.flatMap((row) => (row === undefined ? [] : [[row.id as number, row] as const])),
    );
    return {
      deliveries: rows.flatMap((row) => {
        const webhook = byId.get(row.webhook_id);
        return webhook === undefined
          ? []
          : [representDelivery(row, { eventLog, isEnabled: webhook.is_enabled === true })];
      }),
    };
  };
};

const DELIVERIES_MAX = 200;

/** The tables do not exist before the dispatcher has run for the first time. */
const orNone = (cause: unknown): readonly never[] => {
  if (isUndefinedTable(cause)) return [];
  throw readFailureOf(cause);
};

const orAbsent = (cause: unknown): undefined => {
  if (!(cause instanceof Rejection)) throw cause;
};
