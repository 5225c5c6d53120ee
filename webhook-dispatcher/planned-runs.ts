import type { Version, WebhookId } from '#kernel/base/brands.ts';
import type { RoleAndAttributes } from '#shared/role-and-attributes.ts';
import type { Owners } from '#shared/webhooks/owners.ts';
import type { Delivery } from './deliver/delivery.ts';
import type { PlannedDelivery } from './ledger/plan-rows.ts';
import type { EndpointBook } from './matching.ts';

/** The deliveries just planned for a webhook, as far as known; the ledger knows all of them. */
export type PlannedRun = {
  readonly deliveries: readonly Delivery[];
  /** A moment before others could find them in the ledger; undefined if they may have had them before. */
  readonly writtenAtMs?: number;
  /** The webhook and its owner at that position: a run at another one would have other rights. */
  readonly version?: Version | undefined;
  readonly standing?: RoleAndAttributes | undefined;
};
export type PlannedRuns = ReadonlyMap<WebhookId, PlannedRun>;

type Planned = {
  readonly book: EndpointBook;
  readonly owners: Owners;
  readonly deliveries: readonly PlannedDelivery[];
  readonly writtenAtMs: number;
};

/** The deliveries as the ledger would return them; none for an owner who cannot be read now. */
export const plannedRuns = (
  webhookIds: Iterable<WebhookId>,
  { book, owners, deliveries, writtenAtMs }: Planned,
): PlannedRuns => {
  const byWebhook = Map.groupBy(deliveries, ({ webhookId }) => webhookId);
  const runOf = (webhookId: WebhookId): PlannedRun => {
    const endpoint = book.get(webhookId);
    const standings = endpoint && owners.get(endpoint.ownerId);
    const standing =
      standings === undefined || standings === 'any' || standings.length > 1 ? undefined : standings[0];
    const known = standing ? (byWebhook.get(webhookId) ?? []) : [];
    return { deliveries: known.map(toDelivery), writtenAtMs, version: endpoint?.version, standing };
  };
  return new Map([...webhookIds].map((webhookId) => [webhookId, runOf(webhookId)]));
};

const toDelivery = ({ webhookId, change, shape }: PlannedDelivery): Delivery => ({
  webhookId,
  eventId: change.id,
  attempts: 0,
  shape,
  change,
});
