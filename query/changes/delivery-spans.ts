import type { EventId } from '#kernel/base/brands.ts';
import { nowMs, type Tracing } from '#shared/tracing/tracing.ts';
import type { Lane, Rendered } from './lane.ts';
import type { IndexedChange } from './ring.ts';

/**
 * Records a span for each traced change: its delivery to subscribers, their number, and the time of the last
 * one.
 */
export type DeliverySpans = Disposable & {
  receive(changes: readonly IndexedChange[]): void;
  /** Called before the messages are written to the readers of a lane. */
  delivering(lane: Lane, rendered: readonly Rendered[]): void;
};

/**
 * Cohorts do not wait for each other. A later delivery is one to readers that catch up, and does not count.
 */
const SETTLED_AFTER_MS = 500;
/** The maximum of changes with an open span; further ones get none. */
const CHANGES_MAX = 5_000;

type OpenSpan = {
  readonly trace: string;
  readonly type: string;
  readonly receivedAtMs: number;
  lastAtMs: number;
  readers: number;
};

export const createDeliverySpans = (tracing: Tracing): DeliverySpans | undefined => {
  if (!tracing.isOn) return undefined;
  const openSpans = new Map<EventId, OpenSpan>();
  let timer: NodeJS.Timeout | undefined;
  const finish = (receivedBeforeMs: number): void => {
    // In the order in which they were received.
    for (const [id, { trace, type, receivedAtMs, lastAtMs, readers }] of openSpans) {
      if (receivedAtMs > receivedBeforeMs) break;
      openSpans.delete(id);
      if (readers === 0) continue;
      const attributes = { 'annals.event.id': id, 'annals.event.type': type, 'annals.feed.readers': readers };
      tracing
        .start('notify subscribers', { parent: trace, startedAtMs: receivedAtMs, attributes })
        .end(lastAtMs);
    }
  };
  const finishLater = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      finish(nowMs() - SETTLED_AFTER_MS);
      if (openSpans.size > 0) finishLater();
    }, SETTLED_AFTER_MS).unref();
  };
  return {
    receive(changes) {
      const receivedAtMs = nowMs();
      for (const { change } of changes) {
        if (change.trace === undefined || openSpans.size >= CHANGES_MAX) continue;
        openSpans.set(change.id, {
          trace: change.trace,
          type: change.type,
          receivedAtMs,
          lastAtMs: receivedAtMs,
          readers: 0,
        });
      }
      if (openSpans.size > 0) finishLater();
    },
    delivering(lane, rendered) {
      for (const one of rendered) {
        const span = openSpans.get(one.change.id);
        if (span === undefined) continue;
        const readers = lane.readersOf(one);
        span.readers += readers;
        if (readers > 0) span.lastAtMs = nowMs();
      }
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      finish(Number.POSITIVE_INFINITY);
    },
  };
};
