import type { Config } from '#process/config.ts';
import type { Foundation } from '#process/foundation.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';

/** A part of the process that follows the event log, beside the projection. */
export type ProjectorPart = {
  start(dependencies: Foundation & { readonly log: Log; readonly config: Config }): Promise<AsyncDisposable>;
  /** How many events of the log it covers. */
  countEvents?(pool: Pool): Promise<number>;
};

declare module '#process/part.ts' {
  interface Additions {
    readonly projector: ProjectorPart;
  }
}
