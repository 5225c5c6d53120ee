import type { FaultsInForce } from './faults.ts';
import type { Gate } from './gate.ts';
import type { Log } from './log.ts';
import type { Node } from './node.ts';

/** What every method of the stand-in works on. */
export type Engine = {
  readonly log: Log;
  readonly faults: FaultsInForce;
  readonly gate: Gate;
  readonly node: Node;
  /** How many calls that carry appends were begun. */
  readonly appendCalls: { count: number };
  readonly liveSubscriptions: Set<LiveSubscription>;
  /** How many messages a live subscription may lag behind before it is dropped. */
  readonly liveLagMax: number;
};

type LiveSubscription = { end(how: SubscriptionEnd): void };

export type SubscriptionEnd = 'too-slow' | 'silent-end';
