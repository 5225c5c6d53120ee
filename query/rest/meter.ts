import { charactersIn } from '#shared/event-log/characters-in.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';

/** Charges units to the client’s rate limit; throws if they exceed it. */
export type Charge = (units: number) => Promise<void>;

/** The number of events that one unit pays for. */
const EVENTS_PER_UNIT = 500;
/** The minimal cost of a read: each is a statement of its own. */
const EVENTS_PER_READ_MIN = 10;
/** To open an event for a reader takes their rights, and what is sealed in it: twice what reading it takes. */
const EVENTS_PER_OPENED = 2;
/** A long event costs as much as several of this many characters each. */
const CHARACTERS_PER_EVENT = 2_000;

/**
 * Charges events while they are read, so that a client that cannot pay for a long history stops being served.
 */
export const createMeter = (charge: Charge) => {
  let read = 0;
  let charged = 0;
  const take = async (events: number): Promise<void> => {
    read += events;
    const units = Math.floor(read / EVENTS_PER_UNIT) - charged;
    charged += units;
    if (units > 0) await charge(units);
  };
  const onRead = (events: readonly RecordedEvent[]): Promise<void> =>
    take(
      Math.max(
        events.reduce((sum, event) => sum + weightOf(event), 0),
        EVENTS_PER_READ_MIN,
      ),
    );
  return {
    read: () => read,
    onRead,
    /** Events that are opened for a reader, beside being read. */
    onOpened: (events: number) => take(events * EVENTS_PER_OPENED),
    /** A log whose reads are charged to the same client. */
    metered: (eventLog: Pick<EventLog, 'read'>): Pick<EventLog, 'read'> => ({
      async *read(stream, from, to) {
        for await (const page of eventLog.read(stream, from, to)) {
          await onRead(page);
          yield page;
        }
      },
    }),
  };
};

const weightOf = ({ data }: RecordedEvent): number =>
  1 + Math.floor(charactersIn(data) / CHARACTERS_PER_EVENT);
