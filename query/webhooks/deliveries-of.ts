import { Rejection } from '#kernel/base/rejection.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { SeeingLog } from '#shared/event-log/own-cursor.ts';
import { admit, type Caller, may } from '#shared/policy.ts';
import { listDeliveriesOfEvents } from '#shared/webhooks/deliveries.ts';
import { representDelivery } from '#shared/webhooks/representation.ts';
import type { DeliveriesOf } from '../events/deliveries.ts';
import { createItemFinder } from '../kinds/find.ts';
import { type ItemRow, resourceIn } from '../kinds/rows.ts';
import { demandSource, sourcesOf } from '../rows/sources.ts';
import { readFailureOf } from '../rows/statement.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: SeeingLog;
};

export const createDeliveriesOf = ({ domain, pool, eventLog }: Dependencies): DeliveriesOf => {
  const webhooks = demandSource(sourcesOf(domain), 'webhook');
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
