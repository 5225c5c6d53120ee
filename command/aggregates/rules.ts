import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Sent } from '../circumstances.ts';
import type { Target } from './target.ts';

/** What of an aggregate that the kernel declares only code can say. */
export type Rules = {
  /** Refuses what was decided on one that is there. */
  refuse(events: readonly AnnalsEvent[], sent: Sent): void;
  /** Announces in other streams what must not run out. */
  announce(id: number, sent: Sent): NonNullable<Target['prepare']>;
};

/** By kind; no aggregate of a domain has any. */
export type RulesOf = Readonly<Record<string, Rules>>;
