import type { EventId, LogIdentity, Position, StreamName, Version } from '#shared/brands.ts';
import type { JsonObject } from '#shared/json.ts';

/**
 * The event log: every change is appended to it once, and everything else follows from it.
 *
 * Versions count the events of a stream from 1; `NO_STREAM` (0) expects that there are none yet.
 * Positions rise over the whole log in the order of commits, and a follower never sees a gap close behind it.
 */
export type EventLog = AsyncDisposable & {
  /**
   * Says which log this is. It is part of every cursor, so that a checkpoint is never used on another log.
   */
  readonly identity: LogIdentity;

  /**
   * What it was called while it had events that it has lost. Its own identity is among them until the
   * operator has decided how it goes on.
   */
  readonly lost?: readonly LogIdentity[];

  /**
   * From now on no process starts on it until it has another identity, where the engine can remember that. It
   * does so only if the event is missing where it writes.
   */
  markLost?(seen: Seen): Promise<void>;
  /** Whether a process has marked it, or the operator has given it another identity. */
  isMarkedLost?(): Promise<boolean>;

  /**
   * Appends all events or none, durably, and answers with the version and position of the last one. Repeating
   * an append with the same event ids and the same expectation answers as the first time did. Throws
   * `LogWentBack` where the log has lost `seen`, and then has stored nothing where the engine can tell in the
   * same transaction. Stores nothing either, and throws `StaleVersion`, if one of the streams of `reads` is
   * at another version; only an engine that `fencesReads` takes any.
   */
  append(
    stream: StreamName,
    expected: ExpectedVersion,
    events: readonly NewEvent[],
    when?: AppendWhen,
  ): Promise<Appended>;

  /** Whether an append can depend on the versions of other streams. */
  readonly fencesReads?: true;

  /**
   * Reads a stream from version `from` (1 unless told) to version `to`, or to its present end, in pages; a
   * missing stream has no events.
   */
  read(stream: StreamName, from?: Version, to?: Version): AsyncIterable<readonly RecordedEvent[]>;

  /**
   * Finds an event of a stream by its id, if it stands after a position. An engine without an index of ids
   * reads the stream from its end back to that position.
   */
  find(stream: StreamName, id: EventId, after: Position): Promise<Appended | undefined>;

  /**
   * Follows the whole log after a position, in order, without end; it survives a restart of the server and
   * returns once aborted. Throws `LogWentBack` where the event at `after` is not `id`, and where the last
   * event that it has handed over is gone.
   */
  follow(after: Position, signal: AbortSignal, id?: EventId): AsyncIterable<readonly RecordedEvent[]>;

  /** The id of the event that begins at a position, if one does. */
  eventAt(position: Position): Promise<EventId | undefined>;

  /**
   * The position of the last event appended so far, `START` where there is none; whatever an engine writes
   * for itself does not count.
   */
  head(): Promise<Position>;

  /** How long a server may answer what is not the latest any more, of an engine that has several. */
  readonly lateMs?: number;

  /** Resolves where the log can be read, and takes appends as far as is known without one; for `/readyz`. */
  check(): Promise<void>;
};

/** What an append depends on beside the version of its own stream. */
type AppendWhen = { readonly seen?: Seen | undefined; readonly reads?: readonly ReadAt[] | undefined };

/** A stream at the version at which it was read; `NO_STREAM` if there was none. */
export type ReadAt = { readonly stream: StreamName; readonly version: Version };

/** An event whose place in the log is known. */
export type Seen = { readonly position: Position; readonly id: EventId };

export type NewEvent = {
  readonly id: EventId;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
};

export type RecordedEvent = NewEvent & {
  readonly stream: StreamName;
  readonly version: Version;
  readonly position: Position;
  /** When the server stored it, by the server's clock; the time of the change itself is in the metadata. */
  readonly recordedAt: Date;
};

export type Appended = { readonly version: Version; readonly position: Position };

export type ExpectedVersion = Version | 'any';

/** Expects that the stream has no events yet. */
export const NO_STREAM = 0 as Version;

/** The version of a stream's first event. */
export const FIRST = 1 as Version;

/** The position before the first event. */
export const START = 0 as Position;

/**
 * The most that the data of one append may hold, in bytes of JSON; EventStoreDB's own limit, kept alike
 * everywhere.
 */
export const APPEND_BYTES_MAX = 1_048_576;

/** The most that the metadata of one event may hold. */
export const METADATA_BYTES_MAX = 65_536;

/** The most events of one append. */
export const APPEND_EVENTS_MAX = 1_000;
