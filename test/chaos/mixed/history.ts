/** What is kept of a run: plain data, which the checker judges once all is over. */
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
  /** What `annals audit verify` said in the end. */
  readonly proof: { readonly exit: number; readonly said: string };
};

/** What a client wanted to be done, with all its attempts. */
export type Write = {
  /** The request's id, the same in all attempts; the events of it are told by it. */
  readonly request: string;
  readonly client: string;
  readonly what: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attempts: number;
  /**
   * `refused` is an answer that nothing is the matter with but the request; `unknown` is none, to the end.
   */
  readonly outcome: 'acknowledged' | 'refused' | 'unknown';
  /** Of whoever refused it. */
  readonly why?: string;
  /** The events that it leaves, once each. */
  readonly leaves: readonly string[];
  /** What it made or changed, and what of it there is then. */
  readonly target: string;
  readonly state: State;
  /**
   * Whether its client can demand to see it from then on: what is done without an answer that says where, may
   * be read later.
   */
  readonly isVisible: boolean;
  /** Where it is in the log, as the answer said. */
  readonly position?: number;
};

/** The version of something that is there, or that it is gone. */
export type State = number | 'gone';

export type Read = {
  readonly client: string;
  readonly target: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Whether it was to show all that the client had been told is done. */
  readonly isConsistent: boolean;
  readonly found: State;
};

export type LogEntry = {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly version: number;
  readonly position: number;
  readonly request: string;
  /** Whether it follows from another event, and not from a request. */
  readonly isConsequence: boolean;
};

/** What somebody who follows should have heard in all, and has heard. */
export type Feed = {
  readonly name: string;
  readonly expected: readonly string[];
  readonly heard: readonly string[];
  /** Connections that were made. */
  readonly visits: number;
};

export type Callback = {
  readonly id: string;
  readonly cursor: string;
  readonly body: string;
  readonly isAccepted: boolean;
};
export type LedgerEntry = { readonly id: string; readonly state: string };

export type EndpointHistory = {
  readonly name: string;
  readonly expected: readonly string[];
  /** Whether what comes for the first time is to come in the order of the log. */
  readonly isOrdered: boolean;
  /** Of these, what could be read no more in the end, and may have been kept back. */
  readonly takenBack: readonly string[];
  readonly received: readonly Callback[];
  readonly ledger: readonly LedgerEntry[];
};

export type CheckpointMove = {
  readonly follower: string;
  /** Nothing where it was nowhere before, or where the record begins. */
  readonly from: number | null;
  readonly to: number;
  /** How far the read model was then. */
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

/** Each kind of operation, and how long after the mend it had first been done again. */
export type Recovery = Readonly<Record<string, number>>;

export type Injected = {
  readonly fault: string;
  readonly startMs: number;
  readonly mendedMs: number;
  readonly recovery: Recovery;
};
