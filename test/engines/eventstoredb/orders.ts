import type { EventStoreCluster } from './cluster.ts';
import type { NodeState } from './node.ts';

/** Instructions for the nodes of a cluster in another process. */
export type Order =
  | { readonly does: 'lead' | 'stop' | 'restart' | 'lag' | 'catch-up'; readonly node: number }
  | { readonly does: 'become'; readonly node: number; readonly state: NodeState }
  | { readonly does: 'stand-alone'; readonly node: number; readonly events: number }
  | { readonly does: 'leave-unanswered'; readonly node: number; readonly appends: number };

export const execute = async (cluster: EventStoreCluster, order: Order): Promise<void> => {
  const node = cluster.nodes[order.node];
  if (node === undefined) throw new Error(`there is no node ${order.node}`);
  switch (order.does) {
    case 'lead':
      return cluster.lead(order.node);
    case 'stop':
      return node.stop();
    case 'restart':
      return node.restart();
    case 'lag':
      return node.lag();
    case 'catch-up':
      return node.catchUp();
    case 'become':
      return node.become(order.state);
    case 'stand-alone':
      return node.standAlone(order.events);
    case 'leave-unanswered':
      for (const stored of [true, false])
        node.faults.appends({ kind: 'unanswered', stored }, { times: order.appends });
  }
};
