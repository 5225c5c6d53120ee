/**
 * Tells followers that there may be something new. Ringing is only a hint: they look, and they look now and
 * then unasked. `heard` counts the rings, so that one between a look and the wait after it is not missed.
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

  /** Waits for a ring after `heard`, for the time to run out, or for the signal. */
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
