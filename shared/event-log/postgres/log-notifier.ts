import type { Position } from '#kernel/base/brands.ts';
import { PostgresNotifier } from '#shared/database/notifier/postgres-notifier.ts';
import { START } from '../event-log.ts';

/** Notifies every process up to which position events have been appended. */
export class LogNotifier extends PostgresNotifier {
  #newest: Position = START;
  /** Number of the last notification that names no position, as processes of the release before send it. */
  #unnamed = 0;

  announce(position: Position): void {
    this.notifyEverywhere(String(position));
  }

  /** Whether an event after this position may have been appended since notification number `notified`. */
  hasNews(after: Position, notified: number): boolean {
    return this.#newest > after || this.#unnamed > notified;
  }

  protected override receive(message: string): void {
    const position = message === '' ? Number.NaN : Number(message);
    if (Number.isSafeInteger(position)) {
      this.#newest = Math.max(this.#newest, position) as Position;
      super.notify();
    } else this.notify();
  }

  override notify(): void {
    this.#unnamed = this.notified + 1;
    super.notify();
  }
}
