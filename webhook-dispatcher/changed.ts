/** A recurring event to wait for. */
export class Changed {
  readonly #waiting = new Set<() => void>();

  announce(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Waits for the next announcement, or until the timeout. */
  wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => {
      clearTimeout(timer);
      this.#waiting.delete(wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    this.#waiting.add(wake);
    return promise;
  }
}
