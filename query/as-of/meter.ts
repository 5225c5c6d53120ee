import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';

/** Takes units of what the client may ask for; refuses where that is too much. */
export type Charge = (units: number) => Promise<void>;

/** So many events cost a unit. */
const EVENTS_PER_UNIT = 500;
/** What reading a short stream costs, because it is a statement of its own. */
const EVENTS_PER_READ_MIN = 10;
/** A long text costs as much as so many events that have so many characters each. */
const CHARACTERS_PER_EVENT = 2_000;

/**
 * Has what is read from the log paid for as it is read, so that who cannot pay for a long history is not read
 * one.
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
    /** A log that is read by others on the same account. */
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
