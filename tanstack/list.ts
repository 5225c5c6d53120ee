import { NoAnswer, Problem } from '../client/problem.ts';
import { backoffMs, wait } from '../client/wait.ts';
import type { Sink } from './copy.ts';
import { isOfLostCursor, laterOf } from './cursors.ts';
import { type Subscriber, subscribe } from './events.ts';
import { readerOf } from './pages.ts';
import type { Asked, Source } from './source.ts';

/**
 * Keeps the copy of a list that has no stream of its own: reads it again whenever the stream of events moves
 * on, so that it also follows what no event of its items shows, such as the name of a team, or other rights.
 */

/** Between two reads, and at least as long as a read takes: many changes share one. */
const REST_MIN_MS = 50;
const REST_MAX_MS = 2_000;
const RETRY_MAX_MS = 10_000;
/** A list that changes while its pages are read is read again, so often. */
const READS_MAX = 3;

export const followList = (asked: Asked, sink: Sink, signal: AbortSignal): Source => {
  const read = readerOf(asked);
  const { promise, reject } = Promise.withResolvers<never>();
  /** The copy should have everything up to here. */
  let target: string | undefined;
  let isOutdated = false;
  let isReading = false;
  /** The rows so far, if there are any, are of another log, or of other rights. */
  let isReset = true;

  const readOnce = async (): Promise<void> => {
    const upTo = laterOf(target, asked.requester.written());
    isOutdated = false;
    let found = await read(upTo, signal);
    for (let reads = 1; found.pages > 1 && isOutdated && reads < READS_MAX; reads++)
      found = await read(upTo, signal);
    sink.replace(found.rows, { cursor: upTo, isReset, isComplete: found.isComplete });
    isReset = false;
  };
  const readAll = async (): Promise<void> => {
    for (let failures = 0; isOutdated; ) {
      const beganMs = Date.now();
      try {
        await readOnce();
        failures = 0;
        await wait(Math.min(Math.max(Date.now() - beganMs, REST_MIN_MS), REST_MAX_MS), signal);
      } catch (error) {
        signal.throwIfAborted();
        if (isOfLostCursor(error)) [target, isReset] = [undefined, true];
        else if (!isPassing(error)) throw error;
        isOutdated = true;
        await wait(backoffMs(failures++, RETRY_MAX_MS), signal);
      }
    }
  };
  const refresh = (): void => {
    isOutdated = true;
    if (isReading) return;
    isReading = true;
    readAll()
      .catch(reject)
      .finally(() => {
        isReading = false;
      });
  };
  const subscriber: Subscriber = {
    opened() {
      sink.connected();
      refresh();
    },
    moved(cursor) {
      target = laterOf(cursor, target);
      refresh();
    },
    ended: sink.disconnected,
    failed: reject,
  };
  return {
    async run() {
      const unsubscribe = subscribe(asked.requester, asked.types, subscriber);
      const abort = () => reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      return promise.finally(() => {
        signal.removeEventListener('abort', abort);
        unsubscribe();
      });
    },
    async hurry(token) {
      target = laterOf(token, target);
      refresh();
    },
  };
};

const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
/** The transport has given up for now. */
const isPassing = (error: unknown): boolean =>
  error instanceof NoAnswer ||
  (error instanceof Problem && (error.status >= 500 || PASSING.has(error.status)));
