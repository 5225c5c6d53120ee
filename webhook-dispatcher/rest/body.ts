import type { EventId, WebhookId } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type Caller, policyOf } from '#shared/policy.ts';
import type { DeliveryBody } from '#shared/rest/deliveries.ts';
import { ownerOf, readOwners } from '#shared/webhooks/owners.ts';
import type { PlannedEndpoint } from '#shared/webhooks/planned-endpoint.ts';
import type { ComposeBody } from '../deliver/body.ts';
import type { Shape } from '../deliver/delivery.ts';
import { readEndpoint } from '../ledger/endpoints.ts';

type Key = { readonly webhookId: WebhookId; readonly eventId: EventId };

/** Returns the body of a delivery to those who manage its webhook; undefined if there is no such delivery. */
export type ReadBody = (key: Key, caller: Caller) => Promise<DeliveryBody | undefined>;

type Dependencies = { readonly domain: Domain; readonly pool: Pool; readonly compose: ComposeBody };

/**
 * Bodies are not stored, because they may be personal: this one is composed like every attempt, with the same
 * bytes. Full bodies are shown to tokens with at least the scopes that decided the destination.
 */
export const createBodyReader =
  ({ domain, pool, compose }: Dependencies): ReadBody =>
  async ({ webhookId, eventId }, caller) => {
    const [delivery, endpoint] = await Promise.all([
      findChange(pool, { webhookId, eventId }),
      readEndpoint(pool, domain, webhookId),
    ]);
    if (!delivery || !endpoint) return undefined;
    const { shape } = delivery;
    const lacking = shape === 'ids' ? undefined : scopeLackedBy(caller, endpoint);
    if (lacking !== undefined)
      return hidden(`Your token lacks the scope ${lacking}, which this webhook has.`);
    const owners = await readOwners(pool, domain, new Set([endpoint.ownerId]));
    const standings = owners.get(endpoint.ownerId);
    const [standing] = Array.isArray(standings) && standings.length === 1 ? standings : [];
    if (standing === undefined) return hidden('The owner of the webhook cannot be read now.');
    const owner = ownerOf(endpoint, standing, policyOf(domain));
    const body = await compose({
      delivery: { change: JSON.parse(delivery.change) as Change, shape },
      endpoint,
      owner,
    });
    if (body.kind === 'withheld')
      return hidden('The owner of the webhook may no longer read it, so it is no longer sent.');
    if (body.kind === 'waiting') return hidden('The body cannot be read now, because the item is parked.');
    return { body: body.bytes.toString(), reason: null };
  };

const hidden = (reason: string): DeliveryBody => ({ body: null, reason });

const scopeLackedBy = (caller: Caller, { scopes }: Pick<PlannedEndpoint, 'scopes'>): string | undefined =>
  caller.kind === 'user' ? [...scopes].find((scope) => !caller.scopes.has(scope)) : undefined;

type Row = { readonly change: string; readonly shape: Shape | null };

const findChange = async (pool: Pool, { webhookId, eventId }: Key): Promise<Row | undefined> => {
  const { rows } = await pool.query<Row>(
    `select change, shape from webhook_ledger.delivery join webhook_ledger.message using (event_id)
     where webhook_id = $1 and event_id = $2 and state <> 'dropped'`,
    [webhookId, eventId],
  );
  return rows[0];
};
