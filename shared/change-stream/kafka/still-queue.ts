import { createRequire } from 'node:module';

/** The part of KafkaJS that sends the requests of a connection. */
type RequestQueue = { readonly pending: readonly unknown[]; readonly throttledUntil: number; scheduleCheckPendingRequests(): void };

/**
 * KafkaJS looks once a millisecond, on every connection and for ever, whether a request waits, which takes 4 % of a core from a
 * process that does nothing, and has Node 24 print a warning (its issue 1751, unmended in its last release). Where nothing waits
 * and the broker does not slow us down there is nothing to look for: each answer makes it look anyway.
 */
export const stillQueue = (): void => {
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as { prototype: RequestQueue };
  const { scheduleCheckPendingRequests: schedule } = prototype;
  if (schedule === scheduleWhereNeeded) return;
  original = schedule;
  prototype.scheduleCheckPendingRequests = scheduleWhereNeeded;
};

let original: RequestQueue['scheduleCheckPendingRequests'] = () => {};

function scheduleWhereNeeded(this: RequestQueue): void {
  if (this.pending.length > 0 || this.throttledUntil > Date.now()) original.call(this);
}
