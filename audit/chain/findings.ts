import type { Position, StreamName, Version } from '#shared/brands.ts';

/**
 * Where heads were found: in the database, in `AUDIT_DIR/heads.jsonl`, or in a file that an auditor has kept.
 */
export type HeadSource = 'database' | 'file' | 'given';

/** One event of the log, as it is now. */
export type FoundEvent = {
  readonly position: Position;
  readonly stream: StreamName;
  readonly version: Version;
};

/**
 * What contradicts the proof, one thing each. `count` is which event of the log it is about, counted from 1
 * as the chain was built, or after how many events a block or a head stands.
 */
export type ChainFinding =
  | ({ readonly kind: 'event_changed'; readonly count: number } & FoundEvent)
  /** It was in the chain and is in the log no more; its position is known where positions are dense. */
  | { readonly kind: 'event_missing'; readonly count: number; readonly position: Position | null }
  /** It stands among those of the chain and is none of them. */
  | ({ readonly kind: 'event_inserted'; readonly count: number } & FoundEvent)
  /** It is the one that it was, in another place. */
  | ({ readonly kind: 'event_moved'; readonly count: number } & FoundEvent)
  /** A block's head does not follow from its hashes and the block before. */
  | { readonly kind: 'block_changed'; readonly count: number }
  | { readonly kind: 'block_missing'; readonly count: number }
  /**
   * What was signed is not what log and chain give now: they were changed together, after the head before
   * this one.
   */
  | { readonly kind: 'head_changed'; readonly count: number; readonly source: HeadSource }
  | {
      readonly kind: 'head_signature_wrong';
      readonly count: number;
      readonly source: HeadSource;
      readonly why: string;
    }
  /** A line where a head, or a key, should be. */
  | { readonly kind: 'head_unreadable'; readonly line: number; readonly source: HeadSource }
  /** It is in the file and not in the database, or the other way round. */
  | { readonly kind: 'head_missing'; readonly count: number; readonly source: HeadSource }
  /** A head was signed over more events than the log has: its end was cut off. */
  | { readonly kind: 'log_cut'; readonly count: number; readonly events: number; readonly source: HeadSource }
  /** The chain has more events than the log. */
  | { readonly kind: 'chain_ahead'; readonly count: number; readonly events: number }
  /** A key that signed heads was not endorsed by the one before it. */
  | { readonly kind: 'key_not_endorsed'; readonly key: string; readonly source: HeadSource };

/** What came after the newest head that is kept outside the database: nothing outside it proves that yet. */
type UnprovenWindow = {
  readonly events: number;
  /** When the newest head was signed; nothing where there is none. */
  readonly since: string | null;
};

export type ChainReport = {
  /** The events that were given, and the chain's head after them, in hexadecimal. */
  readonly events: number;
  readonly head: string;
  /** How many of them the chain covers, and how many the newest head covers that is outside the database. */
  readonly chained: number;
  readonly signed: number;
  readonly unproven: UnprovenWindow;
  readonly findings: readonly ChainFinding[];
  /** There may be more than are listed. */
  readonly findingsTotal: number;
};

const FINDINGS_MAX = 1_000;

/** Keeps as many as anybody reads, and counts the rest. */
export class Findings {
  readonly listed: ChainFinding[] = [];
  total = 0;

  add(...findings: readonly ChainFinding[]): void {
    this.total += findings.length;
    this.listed.push(...findings.slice(0, Math.max(0, FINDINGS_MAX - this.listed.length)));
  }
}
