import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Sent } from '../handling/execution-context.ts';
import type { Target } from '../handling/target.ts';

/** Rules of the kernel’s own aggregates that need code. */
export type Rules = {
  /** Refuses a decision about an existing aggregate. */
  refuse(events: readonly AnnalsEvent[], sent: Sent): void;
  /** Announces a departure in other streams, so that the last administrator stays. */
  announce(id: number, sent: Sent): NonNullable<Target['prepare']>;
};

/** By kind; aggregates of a domain have none. */
export type RulesOf = Readonly<Record<string, Rules>>;
