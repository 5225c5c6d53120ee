import type { Clock } from '#shared/clock/clock.ts';

/** A recurring event to wait for. */
export class Changed {
  readonly #waiting = new Set<() => void>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  announce(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Waits for the next announcement, or until the timeout. */
  wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => {
      timer[Symbol.dispose]();
      this.#waiting.delete(wake);
      resolve();
    };
    const timer = this.#clock.after(ms, wake);
    this.#waiting.add(wake);
    return promise;
  }
}
