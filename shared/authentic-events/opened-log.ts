import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { LogPage } from '#shared/event-log/tail.ts';
import type { AuthenticLog, RefusedEvent } from './authentic-log.ts';

export type OpenedLog = {
  readonly identity: LogIdentity;
  /** Whether earlier releases see the MACs that this engine stores. */
  readonly showsMacs: boolean;
  head(): Promise<Position>;
  /** Whether any event has a MAC; asked only if nothing says since when. */
  hasMacs(): Promise<boolean>;
  /** Whether an event of ours without a MAC was stored within this time, or that is unknown. */
  hasBareWithin(ms: number): Promise<boolean>;
  /** The next events after a position, as they count now. */
  page(after: Position, authentic: AuthenticLog): Promise<Pick<LogPage, 'last' | 'isAway'>>;
  /** Reads the event again that has its position, as it counts now. */
  readAgain(event: RefusedEvent, authentic: AuthenticLog): AsyncIterable<readonly RecordedEvent[]>;
};
