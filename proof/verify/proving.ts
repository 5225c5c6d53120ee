import type { Position } from '#kernel/base/brands.ts';
import type { Findings } from './findings.ts';
import type { Fold } from './fold.ts';
import type { Passage } from './passage.ts';
import type { Verification } from './plan.ts';

/** The state of a verification in progress. */
export type Proving = {
  readonly verification: Verification;
  readonly schema: string;
  readonly fold: Fold;
  readonly passage: Passage;
  readonly findings: Findings;
  /** Positions after which events are missing, each reported once. */
  readonly holes: Set<Position>;
  /** Skips by operators from then on may be too late for rows already read. */
  readonly since: Date;
  /** Reads the log further; rows can be built only if they were built for everything before. */
  takeUpTo(upTo: Position, isOfReadModel: boolean): Promise<void>;
  reloadSkipped(): Promise<void>;
};
