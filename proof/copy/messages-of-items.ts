import type { StreamName } from '#kernel/base/brands.ts';
import { idIn, streamName } from '#kernel/base/events/streams.ts';
import type { Json, JsonObject } from '#kernel/base/json.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { parseSeed, seededEventId } from '#shared/events/reservation.ts';
import { isOfSender } from '#shared/policy.ts';

type MessagesOfItems = {
  /** The reservations that are wanted because of this event. */
  after(event: RecordedEvent): readonly StreamName[];
  /** The reservations of a stream that is wanted from now on. */
  release(stream: StreamName): readonly StreamName[];
};

/**
 * Finds the reservations of messages of the inbox by the item that the message has changed, from the events of
 * a log in its order. A sender is no user, so a reservation names no holder: its outcome has the id of the
 * item, and its seed is that of the event of a command whose outcome was never recorded. An id that two kinds
 * of items share may select a reservation too many, which has no effect.
 *
 * About 200 bytes of memory for each message to an item that is not wanted: it may become wanted later.
 */
export const messagesOfItems = (
  { kinds }: Domain,
  isWanted: (stream: StreamName) => boolean,
): MessagesOfItems => {
  const begun = new Map<string, StreamName>();
  const firstEvents = new Map<StreamName, string>();
  const unwanted = new Map<number, Set<StreamName>>();
  const names = Object.keys(kinds);
  const keep = (item: number, reservation: StreamName): readonly StreamName[] => {
    unwanted.set(item, (unwanted.get(item) ?? new Set()).add(reservation));
    return [];
  };
  const end = (reservation: StreamName): void => {
    begun.delete(firstEvents.get(reservation) ?? '');
    firstEvents.delete(reservation);
  };
  const begin = (reservation: StreamName, seed: Json | undefined): readonly StreamName[] => {
    end(reservation);
    const first = firstEventIn(seed);
    if (first === undefined) return [];
    begun.set(first, reservation);
    firstEvents.set(reservation, first);
    return [];
  };
  return {
    after({ id, stream, type, data, metadata }) {
      if (!isOfSender(metadata.actor)) return [];
      if (type === 'command.reserved') return begin(stream, data.seed);
      if (type === 'command.completed') {
        end(stream);
        const item = itemIn(data.outcome);
        if (item === undefined) return [];
        return names.some((name) => isWanted(streamName(name, item))) ? [stream] : keep(item, stream);
      }
      const reservation = begun.get(id);
      if (reservation === undefined) return [];
      return isWanted(stream) ? [reservation] : keep(idIn(stream), reservation);
    },
    release(stream) {
      const item = idIn(stream);
      const found = [...(unwanted.get(item) ?? [])];
      unwanted.delete(item);
      return found;
    },
  };
};

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The id of the first event of the command. Somebody may have written another seed into the log. */
const firstEventIn = (seed: Json | undefined): string | undefined => {
  if (typeof seed !== 'string') return undefined;
  const { eventSeed } = parseSeed(seed);
  return UUID.test(eventSeed) ? seededEventId(eventSeed, 0) : undefined;
};

/** Undefined after a refusal, which leaves the id of the message free. */
const itemIn = (outcome: Json | undefined): number | undefined => {
  const done = memberOf(outcome, 'done');
  const id = memberOf(done, 'id');
  return typeof id === 'number' ? id : undefined;
};

const memberOf = (value: Json | undefined, name: string): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)[name]
    : undefined;
