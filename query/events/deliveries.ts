import type { EventId } from '#kernel/base/brands.ts';
import type { Caller } from '#shared/policy.ts';
import type { Delivery } from '#shared/rest/delivery.ts';

/**
 * The deliveries of events to webhooks that the caller may manage; no `deliveries` for callers who may manage
 * none.
 */
export type DeliveriesOf = (
  caller: Caller,
  events: readonly EventId[],
) => Promise<{ readonly deliveries?: Delivery[] }>;
