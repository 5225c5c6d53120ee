import type { LogIdentity, Position } from '#shared/brands.ts';
import { type BellOptions, PostgresBell } from '#shared/database/bell/bell.ts';

/** The schema that reads are served from. */
export const LIVE_SCHEMA = 'read_model';

/** The follower whose checkpoint is the position of the live schema. */
export const PROJECTOR = 'projector';

/**
 * The projector notifies after its commits, and wakes readers that wait for their writes; the two share one
 * bell in one process.
 */
export class ReadModelBell extends PostgresBell {
  #told: { readonly log: string; readonly position: Position; readonly heard: number } | undefined;

  constructor(place: Omit<BellOptions, 'channel'>) {
    super({ ...place, channel: 'annals_read_model' });
  }

  tellEverywhere(log: LogIdentity, position: Position): void {
    this.ringEverywhere(`${log} ${position}`);
  }

  /** The position of the read model, if the latest notification stated it. */
  toldOf(log: LogIdentity): Position | undefined {
    return this.#told?.log === log && this.#told.heard === this.heard ? this.#told.position : undefined;
  }

  /** A process of an earlier release sends no position. */
  protected override hear(message: string): void {
    const [log = '', position] = message.split(' ');
    if (position !== undefined)
      this.#told = { log, position: Number(position) as Position, heard: this.heard + 1 };
    super.hear(message);
  }
}

export const openReadModelBell = (place: Omit<BellOptions, 'channel'>): ReadModelBell =>
  new ReadModelBell(place);
