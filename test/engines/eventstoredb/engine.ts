import type { Secure } from './access.ts';
import type { FaultsInForce } from './faults.ts';
import type { Gate } from './gate.ts';
import type { Log } from './log.ts';
import type { Node } from './node.ts';
import type { Product } from './product.ts';

/** The state that all methods of the stand-in share. */
export type Engine = {
  readonly log: Log;
  readonly faults: FaultsInForce;
  readonly gate: Gate;
  readonly node: Node;
  readonly product: Product;
  readonly secure: Secure | undefined;
  /** Where the last filtered page of `$all` began. */
  readonly searched: { from: number };
  /** The number of calls with appends that were started. */
  readonly appendCalls: { count: number };
  readonly liveSubscriptions: Set<LiveSubscription>;
  /** The maximum lag of a live subscription, in messages, before it is dropped. */
  readonly liveLagMax: number;
};

type LiveSubscription = { end(how: SubscriptionEnd): void };

export type SubscriptionEnd = 'too-slow' | 'silent-end';
