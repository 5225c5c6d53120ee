import type { WebhookId } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { fitsPattern } from '#shared/events/event-patterns.ts';
import { type Filters, refersTo } from '#shared/events/event-references.ts';
import type { Policy } from '#shared/policy.ts';
import { mayKnow } from '#shared/visibility/may-know.ts';
import type { PlannedEndpoint } from './endpoints.ts';
import { type Owners, ownerOf } from './owners.ts';

/** Whether it asked for changes like this one; whether its owner may know of it is another question. */
export const wants = (filters: Filters, { eventTypes, filter }: PlannedEndpoint, change: Change): boolean =>
  eventTypes.some((pattern) => fitsPattern(pattern, change.type)) &&
  Object.entries(filter).every(([name, id]) => {
    const reference = filters.get(name);
    return reference !== undefined && refersTo(reference, id, change);
  });

/**
 * Whether the owner, as they are now or as they may be, may know of it, by what the token could read that
 * decided what goes where.
 */
export const isKnownTo = (
  { owners, policy }: { readonly owners: Owners; readonly policy: Policy },
  { ownerId, scopes }: PlannedEndpoint,
  change: Change,
): boolean => {
  const standings = owners.get(ownerId) ?? [];
  return (
    standings === 'any' ||
    standings.some((standing) => mayKnow(ownerOf({ ownerId, scopes }, standing, policy), change))
  );
};

/** What it depends on who is told of a change, and what. */
const DECIDING = [
  'status',
  'eventTypes',
  'filter',
  'scopes',
  'payload',
] as const satisfies readonly (keyof PlannedEndpoint)[];

/** The webhooks that there are, found by what they ask for. */
export class EndpointBook {
  readonly #endpoints: Map<WebhookId, PlannedEndpoint>;
  /** By type, as far as types have come by since the last change of a webhook. */
  readonly #byType = new Map<string, readonly PlannedEndpoint[]>();

  readonly #filters: Filters;

  constructor(filters: Filters, endpoints: Iterable<PlannedEndpoint>) {
    this.#filters = filters;
    this.#endpoints = new Map([...endpoints].map((endpoint) => [endpoint.webhookId, endpoint]));
  }

  get(webhookId: WebhookId): PlannedEndpoint | undefined {
    return this.#endpoints.get(webhookId);
  }

  get size(): number {
    return this.#endpoints.size;
  }

  set(endpoint: PlannedEndpoint): void {
    const before = this.#endpoints.get(endpoint.webhookId);
    if (endpoint.status === 'deleted') this.#endpoints.delete(endpoint.webhookId);
    else this.#endpoints.set(endpoint.webhookId, endpoint);
    // What its owner asks for by hand changes nothing of that.
    if (DECIDING.some((name) => before?.[name] !== endpoint[name])) this.#byType.clear();
  }

  /** Those that are enabled and ask for it. */
  wanting(change: Change): readonly PlannedEndpoint[] {
    const ofType = this.#byType.get(change.type) ?? this.#ofType(change.type);
    this.#byType.set(change.type, ofType);
    return ofType.length === 0 ? ofType : ofType.filter((endpoint) => wants(this.#filters, endpoint, change));
  }

  #ofType(type: string): readonly PlannedEndpoint[] {
    return [...this.#endpoints.values()].filter(
      ({ status, eventTypes }) =>
        status === 'enabled' && eventTypes.some((pattern) => fitsPattern(pattern, type)),
    );
  }
}
