import { setTimeout as delay } from 'node:timers/promises';

/** Something to wait for that happens again and again. */
export class Changed {
  #next = Promise.withResolvers<void>();

  announce(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers<void>();
  }

  /** Until it happens next, or for so long. */
  async wait(ms: number): Promise<void> {
    const waited = new AbortController();
    const elapsed = delay(ms, undefined, { signal: waited.signal }).catch(() => {});
    await Promise.race([elapsed, this.#next.promise]);
    waited.abort();
  }
}
