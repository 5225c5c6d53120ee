import type { Position } from '#shared/brands.ts';
import type { Findings } from './findings.ts';
import type { Fold } from './fold.ts';
import type { Passage } from './passage.ts';
import type { Verification } from './plan.ts';

/** What a verification works with while it is under way. */
export type Proving = {
  readonly verification: Verification;
  readonly schema: string;
  readonly fold: Fold;
  readonly passage: Passage;
  readonly findings: Findings;
  /** After which positions something is missing, each told once. */
  readonly holes: Set<Position>;
  /** What operators did from then on may have come too late for what was read. */
  readonly since: Date;
  /**
   * Reads the log on from where it was read to; rows are made of it while all before it was taken for that.
   */
  takeUpTo(upTo: Position, isOfReadModel: boolean): Promise<void>;
  reloadLeftOut(): Promise<void>;
};
