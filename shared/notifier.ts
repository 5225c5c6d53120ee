import type { Clock } from '#shared/clock/clock.ts';

/**
 * Notifies followers that there may be news. A notification is only a hint: followers then read, and they
 * also poll now and then. `notified` counts notifications, so that one between a read and the wait after it is
 * not missed.
 */
export class Notifier {
  #notified = 0;
  #waiting = new Set<() => void>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get notified(): number {
    return this.#notified;
  }

  notify(): void {
    this.#notified += 1;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Waits for a notification after `notified`, for the timeout, or for the signal. */
  async wait(notified: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#notified !== notified || signal.aborted) return;
    const { promise, resolve: wake } = Promise.withResolvers<void>();
    const timer = this.#clock.after(timeoutMs, wake);
    const onAbort = () => wake();
    signal.addEventListener('abort', onAbort);
    this.#waiting.add(wake);
    await promise;
    timer[Symbol.dispose]();
    signal.removeEventListener('abort', onAbort);
    this.#waiting.delete(wake);
  }
}
