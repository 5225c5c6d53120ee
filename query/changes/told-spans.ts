import type { EventId } from '#shared/brands.ts';
import { nowMs, type Tracing } from '#shared/tracing/tracing.ts';
import type { Lane, Rendered } from './lane.ts';
import type { Heard } from './ring.ts';

/**
 * Records a span for each traced change: its delivery to subscribers, their number, and the time of the last
 * one.
 */
export type ToldSpans = Disposable & {
  heard(changes: readonly Heard[]): void;
  /** Called before the messages are written to the readers of a lane. */
  telling(lane: Lane, rendered: readonly Rendered[]): void;
};

/**
 * Cohorts do not wait for each other. A later delivery is one to readers that catch up, and does not count.
 */
const SETTLED_AFTER_MS = 500;
/** The maximum of changes with an open span; further ones get none. */
const CHANGES_MAX = 5_000;

type Telling = {
  readonly trace: string;
  readonly type: string;
  readonly heardAtMs: number;
  lastAtMs: number;
  readers: number;
};

export const createToldSpans = (tracing: Tracing): ToldSpans | undefined => {
  if (!tracing.isOn) return undefined;
  const tellings = new Map<EventId, Telling>();
  let timer: NodeJS.Timeout | undefined;
  const finish = (heardBeforeMs: number): void => {
    // In the order in which they were received.
    for (const [id, { trace, type, heardAtMs, lastAtMs, readers }] of tellings) {
      if (heardAtMs > heardBeforeMs) break;
      tellings.delete(id);
      if (readers === 0) continue;
      const attributes = { 'annals.event.id': id, 'annals.event.type': type, 'annals.feed.readers': readers };
      tracing.start('tell followers', { parent: trace, startedAtMs: heardAtMs, attributes }).end(lastAtMs);
    }
  };
  const finishLater = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      finish(nowMs() - SETTLED_AFTER_MS);
      if (tellings.size > 0) finishLater();
    }, SETTLED_AFTER_MS).unref();
  };
  return {
    heard(changes) {
      const heardAtMs = nowMs();
      for (const { change } of changes) {
        if (change.trace === undefined || tellings.size >= CHANGES_MAX) continue;
        tellings.set(change.id, {
          trace: change.trace,
          type: change.type,
          heardAtMs,
          lastAtMs: heardAtMs,
          readers: 0,
        });
      }
      if (tellings.size > 0) finishLater();
    },
    telling(lane, rendered) {
      for (const one of rendered) {
        const telling = tellings.get(one.change.id);
        if (telling === undefined) continue;
        const readers = lane.readersOf(one);
        telling.readers += readers;
        if (readers > 0) telling.lastAtMs = nowMs();
      }
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      finish(Number.POSITIVE_INFINITY);
    },
  };
};
