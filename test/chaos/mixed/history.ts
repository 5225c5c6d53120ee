/** The records of a run: plain data, which the checker judges at the end. */
export type History = {
  readonly seed: number;
  readonly faults: readonly Injected[];
  readonly writes: readonly Write[];
  readonly reads: readonly Read[];
  readonly log: readonly LogEntry[];
  readonly feeds: readonly Feed[];
  readonly deliveries: readonly EndpointHistory[];
  readonly moves: readonly CheckpointMove[];
  readonly ends: readonly ProcessEnd[];
  readonly memory: readonly MemorySample[];
  /** The output of `annals audit verify` at the end. */
  readonly proof: { readonly exit: number; readonly said: string };
};

/** A requested write with all its attempts. */
export type Write = {
  /** The id of the request, the same in all attempts; it identifies the events. */
  readonly request: string;
  readonly client: string;
  readonly what: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attempts: number;
  /** `refused` is an answer that blames only the request; `unknown` means no answer until the end. */
  readonly outcome: 'acknowledged' | 'refused' | 'unknown';
  /** The reason of the refusal. */
  readonly why?: string;
  /** The types of the expected events, once each, with fields that they must have. */
  readonly leaves: Leaves;
  /** The item that it makes or changes, and its expected state. */
  readonly target: string;
  readonly state: State;
  /**
   * Whether the client can demand to see it from then on: an acknowledgement without a position may become
   * visible later.
   */
  readonly isVisible: boolean;
  /** The position in the log, according to the answer. */
  readonly position?: number;
};

export type Leaves = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The version of an existing item, or that it is gone. */
export type State = number | 'gone';

export type Read = {
  readonly client: string;
  readonly target: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Whether it was to include all writes acknowledged to the client. */
  readonly isConsistent: boolean;
  readonly found: State;
  /** Some fields of what it found. */
  readonly shows?: Readonly<Record<string, unknown>>;
};

export type LogEntry = {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly version: number;
  readonly position: number;
  readonly request: string;
  /** When it happened. */
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Whether it follows from another event, not from a request. */
  readonly isConsequence: boolean;
  /** The id of that event. */
  readonly causation: string | null;
};

/** All expected messages of a subscriber, and the received ones. */
export type Feed = {
  readonly name: string;
  readonly expected: readonly string[];
  readonly received: readonly string[];
  readonly contents: readonly Content[];
  readonly visits: number;
};

/** The parts of an event that a message had. */
export type Content = {
  readonly cursor: string;
  readonly id?: string | undefined;
  readonly type?: string | undefined;
  readonly subject?: string | undefined;
  readonly time?: string | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
};

export type Callback = {
  readonly id: string;
  readonly cursor: string;
  readonly body: string;
  readonly content: Content;
  readonly isAccepted: boolean;
};
export type LedgerEntry = { readonly id: string; readonly state: string };

export type EndpointHistory = {
  readonly name: string;
  readonly expected: readonly string[];
  /** Whether first arrivals must be in the order of the log. */
  readonly isOrdered: boolean;
  /** Events that could no longer be read at the end, and may have been withheld. */
  readonly takenBack: readonly string[];
  readonly received: readonly Callback[];
  readonly ledger: readonly LedgerEntry[];
};

export type CheckpointMove = {
  readonly follower: string;
  /** Null if it had no position yet, or at the start of the record. */
  readonly from: number | null;
  readonly to: number;
  /** The checkpoint of the read model at that time. */
  readonly projected: number | null;
};

export type ProcessEnd = {
  readonly name: string;
  readonly atMs: number;
  readonly code: string;
  readonly isExpected: boolean;
  readonly isDuringStart: boolean;
  readonly said: string;
};

export type MemorySample = { readonly name: string; readonly atMs: number; readonly bytes: number };

/** The kinds of operations, and the time from the repair until each first succeeded. */
export type Recovery = Readonly<Record<string, number>>;

export type Injected = {
  readonly fault: string;
  readonly startMs: number;
  readonly mendedMs: number;
  readonly recovery: Recovery;
};
