import type { EventId } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { ChangeReader } from '#shared/change-stream/changes.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';

/** The recorded events behind the changes of the page that a request reads just now, and of those that it keeps. */
export type AtHand = {
  /** Notes the events that it converts. */
  readonly reader: ChangeReader;
  recordedOf(change: Change): RecordedEvent | undefined;
  keep(change: Change): void;
};

/** The events are kept as they were read, with sealed personal fields, and no longer than the request lasts. */
export const createAtHand = (reader: ChangeReader): AtHand => {
  const kept = new Map<EventId, RecordedEvent>();
  let page: ReadonlyMap<EventId, RecordedEvent> = new Map();
  const note = (events: readonly RecordedEvent[]): void => {
    page = new Map(events.map((event) => [event.id, event]));
  };
  const recordedOf = ({ id }: Change) => kept.get(id) ?? page.get(id);
  return {
    reader: {
      toPage(events, after, eventLog) {
        note(events);
        return reader.toPage(events, after, eventLog);
      },
      ofStream(events, eventLog) {
        note(events);
        return reader.ofStream(events, eventLog);
      },
    },
    recordedOf,
    keep(change) {
      const recorded = recordedOf(change);
      if (recorded !== undefined) kept.set(change.id, recorded);
    },
  };
};
