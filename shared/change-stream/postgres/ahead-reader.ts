import type { Position } from '#kernel/base/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';

/** The maximum of events in one page, and about the maximum of events held back. */
const EVENTS_MAX = 1_000;

/** Reads ahead only while its caller waits for something else. */
export class AheadReader {
  readonly #pages: AsyncIterator<readonly RecordedEvent[]>;
  #held: readonly RecordedEvent[] = [];
  #reading: Promise<void> | undefined;
  #isOver = false;

  constructor(pages: AsyncIterable<readonly RecordedEvent[]>) {
    this.#pages = pages[Symbol.asyncIterator]();
  }

  /** The events that were read and not taken yet; empty at the end. */
  async some(): Promise<readonly RecordedEvent[]> {
    while (this.#held.length === 0 && !this.#isOver) await this.#read();
    return this.#held;
  }

  async readUntil(done: Promise<void>): Promise<void> {
    let isDone = false;
    const end = done.finally(() => {
      isDone = true;
    });
    while (!isDone && !this.#isOver && this.#held.length < EVENTS_MAX)
      await Promise.race([end, this.#read()]);
    await end;
  }

  take(upTo: Position): readonly RecordedEvent[] {
    const beyond = this.#held.findIndex(({ position }) => position > upTo);
    const count = Math.min(EVENTS_MAX, beyond < 0 ? this.#held.length : beyond);
    const taken = this.#held.slice(0, count);
    this.#held = this.#held.slice(count);
    return taken;
  }

  async close(): Promise<void> {
    await this.#reading?.catch(() => {});
    await this.#pages.return?.();
  }

  /** One page at a time, whoever requests it; a failure reaches the next caller. */
  #read(): Promise<void> {
    this.#reading ??= this.#pages.next().then(({ value, done }) => {
      this.#reading = undefined;
      if (done === true) this.#isOver = true;
      else this.#held = [...this.#held, ...value];
    });
    this.#reading.catch(() => {});
    return this.#reading;
  }
}
