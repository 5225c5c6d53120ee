// Over 200 lines, because it is one port, with the words of each of its methods.
import type { EventId, LogIdentity, Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { Clock } from '#shared/clock/clock.ts';

/** How long a server may lag, by this clock. */
export type Late = { readonly ms: number; readonly clock: Clock };

/**
 * The event log: every change is appended to it once, and everything else follows from it.
 *
 * Versions count the events of a stream from 1; `NO_STREAM` (0) expects that there are none yet. Positions
 * rise over the whole log in the order of commits, and no event ever appears before a position that a
 * follower has passed.
 */
export type EventLog = AsyncDisposable & {
  /** Identifies the log. It is part of every cursor, so that a checkpoint is never used on another log. */
  readonly identity: LogIdentity;

  /** Set if the log belongs to another installation, and was opened to be looked at: it takes no appends. */
  readonly ofAnother?: OfAnother;

  /**
   * The identities under which the log had events that it has lost. Its present identity is among them until
   * the operator has decided how to continue.
   */
  readonly lost?: readonly LogIdentity[];

  /**
   * Whether new cursors name their event; without it they do. The release before refuses such cursors, and
   * its processes may run beside this one during an upgrade.
   */
  namesEvents?(): boolean;

  /**
   * From now on no process starts on it until it has another identity, if the engine can remember that. Marks
   * it only if the primary lacks the event; without one, other evidence suffices.
   */
  markLost?(seen?: Seen): Promise<void>;
  /** The facts that an engine knows about the log beside its events, and perhaps with its events at once. */
  standing?(seen?: Position): Promise<Standing>;

  /**
   * Stops this process like a lost event that it has seen itself, and marks the log: something outside of the
   * log proves that events are gone. Only a guarded log has it.
   */
  reportLost?(cause: Error): Promise<void>;

  /** The event at a position, if this process has seen it lately. Only a guarded log remembers any. */
  remembered?(position: Position): EventId | undefined;
  /** A client has shown a cursor of an event that the log does not have. Only a guarded log logs it. */
  reportForeignCursor?(position: Position): void;

  /**
   * Appends all events or none, durably, and returns the version and position of the last one. Repeating an
   * append with the same event ids and the same expectation returns the first result. Throws `LogWentBack` if
   * the log has lost `seen`; it then has stored nothing if the engine can check that in the same transaction.
   * Also stores nothing, and throws `StaleVersion`, if one of the streams of `reads` is at another version;
   * only an engine that `fencesReads` accepts any. The same engine accepts events of other streams in `also`:
   * they are stored before its own, at the versions that they expect, or nothing is.
   */
  append(
    stream: StreamName,
    expected: ExpectedVersion,
    events: readonly NewEvent[],
    when?: AppendWhen,
  ): Promise<AppendedToSeveral>;

  /** Whether an append can depend on the versions of other streams, and store events of several. */
  readonly fencesReads?: true;

  /**
   * Reads a stream from version `from` (default 1) to version `to`, or to its present end, in pages; a
   * missing stream has no events. Throws `StreamCut` if versions of it are gone.
   */
  read(stream: StreamName, from?: Version, to?: Version): AsyncIterable<readonly RecordedEvent[]>;

  /**
   * Finds an event of a stream by its id after a position. An engine without an index of ids reads the stream
   * from its end back to that position.
   */
  find(stream: StreamName, id: EventId, after: Position): Promise<Appended | undefined>;

  /**
   * Follows the whole log after a position, in order, without end; survives a restart of the server and
   * returns once aborted. Throws `LogWentBack` if the event at `after` is not `id`, or if the last event that
   * it has yielded is gone.
   */
  follow(after: Position, signal: AbortSignal, id?: EventId): AsyncIterable<readonly RecordedEvent[]>;

  /**
   * The next events after a position, at most `max`; none at the end. For readers that need a few: those of
   * an engine without it follow the log, in whole pages.
   */
  page?(after: Position, max: number): Promise<readonly RecordedEvent[]>;

  /**
   * The first hundred events at positions below 1, where none belongs: no follower sees them, and a read of their
   * stream does. An engine without it cannot have any.
   */
  beforeStart?(): Promise<readonly RecordedEvent[]>;

  /**
   * Streams that an operator may have cut or deleted after a position, in an engine that lets them. Reads the
   * log from there.
   */
  cutStreams?(after?: Position): Promise<CutStreams>;

  /** The id of the event that begins at a position, if one does. */
  eventAt(position: Position): Promise<EventId | undefined>;

  /**
   * The position of the last event appended so far, `START` if there is none; records that an engine writes
   * for itself do not count.
   */
  head(): Promise<Position>;

  /** If the engine has several servers, which may return stale results. */
  readonly late?: Late;

  /** Resolves if the log is readable, and accepts appends as far as is known without one; for `/readyz`. */
  check(): Promise<void>;
};

export type OfAnother = {
  /** Undefined for a log from before owners were recorded. */
  readonly owner: string | undefined;
  /** The EVENT_LOG_PREFIX; undefined for a log from before there were prefixes. */
  readonly prefix: string | undefined;
  /** When its newest event was stored, by the server’s clock. */
  readonly newestAt: Date | undefined;
};

export type CutStreams = {
  readonly streams: readonly StreamName[];
  /** The log was read up to here: a position for the next look only, because it may be a record of others. */
  readonly upTo: Position;
};

export type Standing = {
  /** Whether a process has marked the log, or the operator has given it another identity. */
  readonly isMarkedLost: boolean;
  /** Undefined if the server does not say it. */
  readonly server: LogServer | undefined;
  /** The event at the asked position, and the newest one; undefined if the engine reads them apart. */
  readonly events?: { readonly seen: EventId | undefined; readonly newest: Seen | undefined } | undefined;
};

/** A PostgreSQL server, and its timeline: a promoted standby and a restored server have another one. */
export type LogServer = { readonly system: string; readonly timeline: number };

/** The conditions of an append beside the version of its own stream. */
type AppendWhen = {
  readonly seen?: Seen | undefined;
  readonly reads?: readonly ReadAt[] | undefined;
  readonly also?: readonly AppendedBeside[] | undefined;
};

/** Events of another stream in the same append. */
type AppendedBeside = {
  readonly stream: StreamName;
  readonly expected: Version;
  readonly events: readonly NewEvent[];
};

/** A stream at the version at which it was read; `NO_STREAM` if it did not exist. */
export type ReadAt = { readonly stream: StreamName; readonly version: Version };

/** An event with its position in the log. */
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
  /** When the server stored it, by the server’s clock; the time of the change itself is in the metadata. */
  readonly recordedAt: Date;
  /** Its digest, if it has the form of one of our events, but not its MAC, and no operator has decided about it. */
  readonly notAuthentic?: string;
  /** The chain covers this instead, if the event was chained before an operator accepted it. */
  readonly chained?: Pick<NewEvent, 'type' | 'data' | 'metadata'>;
};

export type Appended = { readonly version: Version; readonly position: Position };

/** Beside its own version and position, those of the other streams in their order; not of a repeated append. */
export type AppendedToSeveral = Appended & { readonly also?: readonly Appended[] };

export type ExpectedVersion = Version | 'any';

/** Expects that the stream has no events yet. */
export const NO_STREAM = 0 as Version;

/** The version of a stream’s first event. */
export const FIRST = 1 as Version;

/** The position before the first event. */
export const START = 0 as Position;

/**
 * The maximum data of one append, in bytes of JSON: the lowest limit of the engines, which EventStoreDB 23.10 has,
 * so that every event of one log fits into another.
 */
export const APPEND_BYTES_MAX = 1_048_576;

/** The maximum metadata of one event. */
export const METADATA_BYTES_MAX = 65_536;

/** The maximum number of events in one append. */
export const APPEND_EVENTS_MAX = 1_000;
