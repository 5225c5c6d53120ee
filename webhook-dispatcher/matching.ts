import type { WebhookId } from '#kernel/base/brands.ts';
import type { Filters } from '#kernel/registry/event-references.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { fitsPattern } from '#shared/events/event-patterns.ts';
import type { PlannedEndpoint } from '#shared/webhooks/planned-endpoint.ts';
import { wants } from '#shared/webhooks/wanted.ts';

/** The fields that decide who receives a change, and what it contains. */
const DECIDING = [
  'status',
  'eventTypes',
  'filter',
  'scopes',
  'payload',
] as const satisfies readonly (keyof PlannedEndpoint)[];

/** The present webhooks, indexed by what they ask for. */
export class EndpointBook {
  readonly #endpoints: Map<WebhookId, PlannedEndpoint>;
  /** By type, for types that occurred since the last change of a webhook. */
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
    // Manual requests by the owner do not affect the index.
    if (DECIDING.some((name) => before?.[name] !== endpoint[name])) this.#byType.clear();
  }

  /** The enabled webhooks that ask for a change. */
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
