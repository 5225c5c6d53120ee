import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';

/** Charges units to the client’s rate limit; throws if they exceed it. */
export type Charge = (units: number) => Promise<void>;

/** The number of events that one unit pays for. */
const EVENTS_PER_UNIT = 500;
/** The minimal cost of a read: each is a statement of its own. */
const EVENTS_PER_READ_MIN = 10;
/** A long text costs as much as several events of this many characters each. */
const CHARACTERS_PER_EVENT = 2_000;

/**
 * Charges events while they are read, so that a client that cannot pay for a long history stops being served.
 */
export const createMeter = (charge: Charge) => {
  let read = 0;
  let charged = 0;
  const onRead = async (events: readonly RecordedEvent[]): Promise<void> => {
    read += Math.max(
      events.reduce((sum, event) => sum + weightOf(event), 0),
      EVENTS_PER_READ_MIN,
    );
    const units = Math.floor(read / EVENTS_PER_UNIT) - charged;
    charged += units;
    if (units > 0) await charge(units);
  };
  return {
    read: () => read,
    onRead,
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
  Object.values(data).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? Math.floor(value.length / CHARACTERS_PER_EVENT) : 0),
    1,
  );
