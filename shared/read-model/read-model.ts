import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { type NotifierOptions, PostgresNotifier } from '#shared/database/notifier/postgres-notifier.ts';

/**
 * The projector notifies after its commits, and wakes readers that wait for their writes; the two share one
 * notifier in one process.
 */
export class ReadModelNotifier extends PostgresNotifier {
  #announced: { readonly log: string; readonly position: Position; readonly notified: number } | undefined;

  constructor(place: Omit<NotifierOptions, 'channel'>) {
    super({ ...place, channel: 'annals_read_model' });
  }

  announce(log: LogIdentity, position: Position): void {
    this.notifyEverywhere(`${log} ${position}`);
  }

  /** The position of the read model, if the latest notification stated it. */
  announcedPosition(log: LogIdentity): Position | undefined {
    return this.#announced?.log === log && this.#announced.notified === this.notified
      ? this.#announced.position
      : undefined;
  }

  /** A process of an earlier release sends no position. */
  protected override receive(message: string): void {
    const [log = '', position] = message.split(' ');
    if (position !== undefined)
      this.#announced = { log, position: Number(position) as Position, notified: this.notified + 1 };
    super.receive(message);
  }
}

export const openReadModelNotifier = (place: Omit<NotifierOptions, 'channel'>): ReadModelNotifier =>
  new ReadModelNotifier(place);
