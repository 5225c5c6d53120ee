import type { EventId } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Span, Tracing } from '#shared/tracing/tracing.ts';
import type { PlannedDelivery } from './ledger/plan-rows.ts';

/** Traces the planning of each change with deliveries; attempts follow from that span. */
export type TracedPlans = {
  /** The changes with their trace, to be stored. */
  begin(changes: readonly Change[]): readonly Change[];
  planned(deliveries: readonly PlannedDelivery[]): void;
  /** Plans that were not committed are not traced. */
  committed(): void;
};

export const tracePlans = (tracing: Tracing): TracedPlans => {
  if (!tracing.isOn) return { begin: (changes) => changes, planned() {}, committed() {} };
  let spans = new Map<EventId, Span>();
  let deliveries = new Map<EventId, number>();
  return {
    begin(changes) {
      spans = new Map();
      deliveries = new Map();
      return changes.map((change) => {
        const { id, type, trace } = change;
        if (trace === undefined) return change;
        const span = tracing.start('plan webhooks', {
          parent: trace,
          attributes: { 'annals.event.id': id, 'annals.event.type': type },
        });
        spans.set(id, span);
        return { ...change, trace: span.traceparent };
      });
    },
    planned(all) {
      for (const { change } of all) deliveries.set(change.id, (deliveries.get(change.id) ?? 0) + 1);
    },
    committed() {
      for (const [id, count] of deliveries) {
        const span = spans.get(id);
        span?.set({ 'annals.webhook.deliveries': count });
        span?.end();
      }
      deliveries = new Map();
    },
  };
};
