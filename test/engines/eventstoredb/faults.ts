/**
 * The faults that a test requests, with their number and scope. Calls that meet a fault use it up, in the
 * given order.
 */

export type AppendFault =
  /** The client waits for ever. */
  | { readonly kind: 'unanswered'; readonly stored: boolean }
  /** The second answer throws inside the client, outside every promise. */
  | { readonly kind: 'answered-twice' }
  | { readonly kind: 'without-position' }
  /**
   * The server's own deadline: `Timeout`, seen as DeadlineExceededError. The real server had stored nothing.
   */
  | { readonly kind: 'timeout'; readonly stored: boolean }
  | { readonly kind: 'delayed'; readonly delayMs: number }
  /** The shared call fails: UnavailableError for this append and all in flight. */
  | { readonly kind: 'stream-error'; readonly stored: boolean }
  /**
   * The answer of a node that cannot serve at the moment, which the client does not know; nothing is stored.
   */
  | { readonly kind: 'not-now'; readonly says: NotNow }
  /** Stored, but refused as if it were not. */
  | { readonly kind: 'stored-and-refused' }
  | { readonly kind: 'access-denied' };

export type NotNow = 'Server Is Not Ready' | 'Server Is Busy' | 'No leader info available in response';

export type ReadFault =
  | { readonly kind: 'error'; readonly afterEvents: number }
  /** The page ends early and gracefully, as if the log ended there. */
  | { readonly kind: 'cut'; readonly afterEvents: number }
  | { readonly kind: 'delayed'; readonly delayMs: number }
  /** A long search of records of others after some records. */
  | { readonly kind: 'searching'; readonly after: number; readonly delayMs: number }
  | { readonly kind: 'unanswered' }
  | { readonly kind: 'access-denied' };

/** Live faults replace the next event, transition faults replace caught-up. */
type SubscriptionFault =
  | { readonly kind: 'access-denied'; readonly at: 'start' }
  | { readonly kind: 'too-slow'; readonly at: 'transition' | 'live' }
  /** The call ends with status OK: the client's loop just finishes. */
  | { readonly kind: 'silent-end'; readonly at: 'transition' | 'live' };

/**
 * `stream` limits a fault to streams with this beginning, after the prefix that a log may give its streams;
 * reads and subscriptions of everything are called `$all`.
 */
type Scope = { readonly times?: number; readonly stream?: string };

export type Faults = {
  appends(fault: AppendFault, scope?: Scope): void;
  reads(fault: ReadFault, scope?: Scope): void;
  subscriptions(fault: SubscriptionFault, scope?: Scope): void;
  /** The number of requested faults that have not occurred yet. */
  pending(): number;
  clear(): void;
};

export type FaultsInForce = Faults & {
  takeAppend(stream: string): AppendFault | undefined;
  takeRead(stream: string): ReadFault | undefined;
  takeSubscription(stream: string, at: SubscriptionFault['at']): SubscriptionFault | undefined;
};

export const ALL = '$all';

export const newFaults = (): FaultsInForce => {
  const appends = newOrders<AppendFault>();
  const reads = newOrders<ReadFault>();
  const subscriptions = newOrders<SubscriptionFault>();
  return {
    appends: appends.add,
    reads: reads.add,
    subscriptions: subscriptions.add,
    pending: () => appends.pending() + reads.pending() + subscriptions.pending(),
    clear() {
      appends.clear();
      reads.clear();
      subscriptions.clear();
    },
    takeAppend: (stream) => appends.take(stream, () => true),
    takeRead: (stream) => reads.take(stream, () => true),
    takeSubscription: (stream, at) => subscriptions.take(stream, (fault) => fault.at === at),
  };
};

const PREFIX = /^\w+\./;

type Order<Fault> = { readonly fault: Fault; readonly stream: string; left: number };

const newOrders = <Fault>() => {
  let orders: Order<Fault>[] = [];
  return {
    add(fault: Fault, { times = 1, stream = '' }: Scope = {}): void {
      orders.push({ fault, stream, left: times });
    },
    take(stream: string, fits: (fault: Fault) => boolean): Fault | undefined {
      const own = stream.replace(PREFIX, '');
      const order = orders.find(
        (candidate) =>
          (stream.startsWith(candidate.stream) || own.startsWith(candidate.stream)) && fits(candidate.fault),
      );
      if (!order) return undefined;
      order.left -= 1;
      if (order.left === 0) orders = orders.filter((candidate) => candidate !== order);
      return order.fault;
    },
    pending: (): number => orders.reduce((sum, order) => sum + order.left, 0),
    clear(): void {
      orders = [];
    },
  };
};
