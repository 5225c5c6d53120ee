import type { EventId, Position, StreamName, Version } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { ExpectedVersion } from './event-log.ts';

/** The stream is not at the version that the append expected: read it again and decide again. */
export class StaleVersion extends Error {
  readonly code = 'stale_version';
  readonly stream: StreamName;
  readonly expected: ExpectedVersion;

  constructor(stream: StreamName, expected: ExpectedVersion, options?: ErrorOptions) {
    super(`${stream} is not at version ${expected}`, options);
    this.name = 'StaleVersion';
    this.stream = stream;
    this.expected = expected;
  }
}

/** The append can never succeed as it is: an empty type, a malformed id, no events, or too many bytes. */
export class InvalidAppend extends Error {
  readonly code = 'invalid_append';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'InvalidAppend';
  }
}

/** An append has more events than one may have. */
export class TooManyEvents extends InvalidAppend {
  readonly events: number;
  readonly eventsMax: number;

  constructor(what: string, events: number, eventsMax: number) {
    super(`${what} has ${events} events, but the limit is ${eventsMax}`);
    this.name = 'TooManyEvents';
    this.events = events;
    this.eventsMax = eventsMax;
  }
}

/** The data or metadata of an append exceeds the limit. */
export class AppendTooLarge extends Error {
  readonly code = 'append_too_large';
  readonly bytes: number;
  /** Undefined if the server does not say it. */
  readonly bytesMax: number | undefined;

  constructor(what: string, bytes: number, bytesMax: number | undefined) {
    super(
      bytesMax === undefined
        ? `${what} is ${bytes} bytes, which is more than the server accepts`
        : `${what} is ${bytes} bytes, but the limit is ${bytesMax}`,
    );
    this.name = 'AppendTooLarge';
    this.bytes = bytes;
    this.bytesMax = bytesMax;
  }
}

/**
 * The log did not respond in time. Whether an append was stored is unknown: repeat it with the same event
 * ids.
 */
export class LogUnavailable extends Error {
  readonly code = 'log_unavailable';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LogUnavailable';
  }
}

/** No installation has begun the log yet, and whoever opens it does not begin one. */
export class LogNotBegun extends StartRefused {
  constructor(place: string) {
    super(`There is no event log ${place} yet: run npm start first, or correct the settings.`);
    this.name = 'LogNotBegun';
  }
}

/** Versions that a stream lacks; the last one is unknown if the stream has none left. */
type Lacking = { readonly from: Version; readonly to?: Version };

/**
 * An operator has cut or deleted a stream in its engine: nobody knows the state of the aggregate any more,
 * and nothing may be decided about it.
 */
export class StreamCut extends Error {
  readonly code = 'stream_cut';
  readonly stream: StreamName;
  readonly lacks: Lacking;

  constructor(stream: StreamName, lacks: Lacking, options?: ErrorOptions) {
    super(
      `stream_cut: stream ${stream} lacks ${versionsOf(lacks)}: it was cut or deleted in EventStoreDB, which Annals never does`,
      options,
    );
    this.name = 'StreamCut';
    this.stream = stream;
    this.lacks = lacks;
  }
}

const versionsOf = ({ from, to }: Lacking): string => {
  if (to === undefined) return from === 1 ? 'all its versions' : `all versions from ${from}`;
  return from === to ? `version ${from}` : `versions ${from}–${to}`;
};

/**
 * An event is missing in the middle of the log, or occurs twice: the log was damaged, and continuing would
 * silently skip an event.
 */
export class LogHole extends Error {
  readonly code = 'log_hole';
  /** The last position before the damage. */
  readonly after: Position;
  /** The position found instead of the next one. */
  readonly found: Position;

  constructor({ after, found }: { after: Position; found: Position }) {
    super(`the event log has a hole: position ${after} is followed by ${found}`);
    this.name = 'LogHole';
    this.after = after;
    this.found = found;
  }
}

/**
 * The log has lost events that were seen before: a standby without them was promoted, or an older backup was
 * restored. A follower that continued would silently miss the events in their place.
 */
export class LogWentBack extends Error {
  readonly code = 'log_went_back';
  readonly position: Position | undefined;

  /** Without `seen`, another process has noticed it, or the cause says what shows it. */
  constructor(seen?: { position: Position; id: EventId }, found?: EventId, options?: ErrorOptions) {
    super(`the event log went back: ${seen ? lossOf(seen, found) : reasonOf(options?.cause)}`, options);
    this.name = 'LogWentBack';
    this.position = seen?.position;
  }
}

const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : 'another process has noticed that events are gone';

const lossOf = ({ position, id }: { position: Position; id: EventId }, found: EventId | undefined): string =>
  `at position ${position} was record ${id}, and now ${found === undefined ? 'none begins there' : `record ${found} is there`}`;
