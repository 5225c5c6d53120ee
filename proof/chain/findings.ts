import type { Position, StreamName, Version } from '#kernel/base/brands.ts';

/** The source of heads: the database, `AUDIT_DIR/heads.jsonl`, or a file that an auditor has kept. */
export type HeadSource = 'database' | 'file' | 'given';

/** An event as it is in the log now. */
export type FoundEvent = {
  readonly position: Position;
  readonly stream: StreamName;
  readonly version: Version;
};

/**
 * One contradiction to the proof. `count` is the number of the event in the log, counted from 1 when the
 * chain was built, or the number of events that a block or head covers.
 */
export type ChainFinding =
  | ({ readonly kind: 'event_changed'; readonly count: number } & FoundEvent)
  /** In the chain, but no longer in the log; its position is known if positions are dense. */
  | { readonly kind: 'event_missing'; readonly count: number; readonly position: Position | null }
  /** Among the events of the chain, but not in it. */
  | ({ readonly kind: 'event_inserted'; readonly count: number } & FoundEvent)
  /** Unchanged, but at another place. */
  | ({ readonly kind: 'event_moved'; readonly count: number } & FoundEvent)
  /** A block whose head does not follow from its hashes and the block before. */
  | { readonly kind: 'block_changed'; readonly count: number }
  | { readonly kind: 'block_missing'; readonly count: number }
  /** The signed head differs from that of log and chain: both were changed after the previous head. */
  | { readonly kind: 'head_changed'; readonly count: number; readonly source: HeadSource }
  | {
      readonly kind: 'head_signature_wrong';
      readonly count: number;
      readonly source: HeadSource;
      readonly why: string;
    }
  /** A line that contains no valid head or key. */
  | { readonly kind: 'head_unreadable'; readonly line: number; readonly source: HeadSource }
  /** In the file but not in the database, or vice versa. */
  | { readonly kind: 'head_missing'; readonly count: number; readonly source: HeadSource }
  /** A tile of the tree differs from the chain, or is missing. */
  | { readonly kind: 'tile_changed' | 'tile_missing'; readonly level: number; readonly index: number }
  /** The head of the tree has another root or size, or a wrong signature. */
  | { readonly kind: 'tree_head_wrong'; readonly count: number; readonly why: string }
  /** A head covers more events than the log has: its end was cut off. */
  | { readonly kind: 'log_cut'; readonly count: number; readonly events: number; readonly source: HeadSource }
  /** The chain has more events than the log. */
  | { readonly kind: 'chain_ahead'; readonly count: number; readonly events: number }
  /** A key that signed heads without endorsement by the previous key, or whose public part was replaced. */
  | { readonly kind: 'key_not_endorsed'; readonly key: string; readonly source: HeadSource };

/** The events after the newest head outside the database: nothing outside it proves them yet. */
type UnprovenWindow = {
  readonly events: number;
  /** The time of the newest signature; null if there is none. */
  readonly since: string | null;
};

export type ChainReport = {
  /** The number of checked events, and the head of the chain after them, in hexadecimal. */
  readonly events: number;
  readonly head: string;
  /** The numbers of events covered by the chain, and by the newest head outside the database. */
  readonly chained: number;
  readonly signed: number;
  readonly unproven: UnprovenWindow;
  readonly findings: readonly ChainFinding[];
  /** May exceed the number of listed findings. */
  readonly findingsTotal: number;
};

const FINDINGS_MAX = 1_000;

/** Lists findings up to a limit, and counts the rest. */
export class Findings {
  readonly listed: ChainFinding[] = [];
  total = 0;
  /** Whether a block is wrong or missing. */
  hasBlocks = false;

  add(...findings: readonly ChainFinding[]): void {
    this.hasBlocks ||= findings.some(({ kind }) => kind === 'block_changed' || kind === 'block_missing');
    this.total += findings.length;
    this.listed.push(...findings.slice(0, Math.max(0, FINDINGS_MAX - this.listed.length)));
  }
}
