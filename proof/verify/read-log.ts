import type { Position } from '#kernel/base/brands.ts';
import { LogHole } from '#shared/event-log/errors.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { followAhead } from '#shared/follower/follow-ahead.ts';
import { Stopped } from '#shared/projection/catch-up.ts';
import { decodeAround } from '#shared/projection/decode.ts';
import { joined, type Prepared, type Projection, partOf, prepare } from '#shared/projection/prepared.ts';
import type { Parked } from '#shared/read-model/parked.ts';

/** Consecutive events, with everything that can be checked without a database. */
export type Page = {
  readonly events: readonly RecordedEvent[];
  /** The events of the read model. */
  readonly prepared: Prepared;
  /** Unreadable events of other streams. */
  readonly damagedElsewhere: readonly Parked[];
};

type Reading = Projection & {
  readonly eventLog: EventLog;
  readonly signal: AbortSignal;
  onHole(hole: LogHole): void;
};

type Range = { readonly after: Position; readonly upTo: Position };

/**
 * The events after one position up to another, decoded in advance. A hole in the log is reported and skipped.
 */
export async function* readLog(
  { eventLog, signal, onHole, ...projection }: Reading,
  { after, upTo }: Range,
): AsyncGenerator<Page> {
  const following = {
    eventLog,
    signal,
    prepare: (events: readonly RecordedEvent[]) => prepareAll(projection, events),
  };
  let position = after;
  while (position < upTo) {
    try {
      for await (const { events, ready } of followAhead(following, position)) {
        if (signal.aborted) break;
        position = events.at(-1)?.position ?? position;
        yield upToOnly(pageOf(events, ready), upTo);
        if (position >= upTo) return;
      }
      throw new Stopped();
    } catch (error) {
      if (!(error instanceof LogHole)) throw error;
      if (error.found > upTo && error.after >= upTo) return;
      onHole(error);
      position = Math.max(error.found - 1, error.after) as Position;
    }
  }
}

type Ready = Omit<Page, 'events'>;

const prepareAll = async (projection: Projection, events: readonly RecordedEvent[]): Promise<Ready> => {
  const others = events.filter((event) => !projection.tables.isProjected(event));
  return {
    prepared: await prepare(projection, events),
    damagedElsewhere: (await decodeAround(projection.codec, others)).damaged,
  };
};

const pageOf = (events: readonly RecordedEvent[], ready: readonly Ready[]): Page => ({
  events,
  prepared: joined(ready.map(({ prepared }) => prepared)),
  damagedElsewhere: ready.flatMap(({ damagedElsewhere }) => damagedElsewhere),
});

const upToOnly = (page: Page, upTo: Position): Page => {
  const isIn = ({ position }: { readonly position: Position }) => position <= upTo;
  if (page.events.every(isIn)) return page;
  const { events, prepared, damagedElsewhere } = page;
  return {
    events: events.filter(isIn),
    prepared: partOf(prepared, isIn),
    damagedElsewhere: damagedElsewhere.filter(isIn),
  };
};
