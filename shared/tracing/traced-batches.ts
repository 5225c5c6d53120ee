import type { NewEvent } from '#shared/event-log/event-log.ts';
import { traceOf } from './trace-appends.ts';
import { nowMs, type Tracing } from './tracing.ts';

type Traced = Pick<NewEvent, 'id' | 'type' | 'metadata'>;

/**
 * Adds a span with the duration of a batch to the trace of each of its events, once the batch is committed.
 */
type TracedBatches = { begin(events: readonly Traced[]): void; committed(): void };

export const traceBatches = (tracing: Tracing, name: string): TracedBatches => {
  if (!tracing.isOn) return { begin() {}, committed() {} };
  let begun: { readonly events: readonly Traced[]; readonly atMs: number; readonly size: number } | undefined;
  return {
    begin(events) {
      const traced = events.filter((event) => traceOf(event) !== undefined);
      begun = traced.length === 0 ? undefined : { events: traced, atMs: nowMs(), size: events.length };
    },
    committed() {
      for (const event of begun?.events ?? []) {
        const attributes = {
          'annals.event.id': event.id,
          'annals.event.type': event.type,
          'annals.batch.size': begun?.size,
        };
        tracing
          .start(name, { parent: traceOf(event), startedAtMs: begun?.atMs ?? nowMs(), attributes })
          .end();
      }
      begun = undefined;
    },
  };
};
