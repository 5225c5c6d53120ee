/** Something to wait for that happens again and again. */
export class Changed {
  readonly #waiting = new Set<() => void>();

  announce(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Until it happens next, or for so long. */
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
