/**
 * Notifies followers that there may be news. A notification is only a hint: followers then read, and they
 * also poll now and then. `heard` counts notifications, so that one between a read and the wait after it is
 * not missed.
 */
export class Doorbell {
  #heard = 0;
  #waiting = new Set<() => void>();

  get heard(): number {
    return this.#heard;
  }

  ring(): void {
    this.#heard += 1;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Waits for a notification after `heard`, for the timeout, or for the signal. */
  async wait(heard: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#heard !== heard || signal.aborted) return;
    const { promise, resolve: wake } = Promise.withResolvers<void>();
    const timer = setTimeout(wake, timeoutMs);
    const onAbort = () => wake();
    signal.addEventListener('abort', onAbort);
    this.#waiting.add(wake);
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    this.#waiting.delete(wake);
  }
}
