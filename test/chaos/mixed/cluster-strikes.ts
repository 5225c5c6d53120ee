import type { EventStoreServer } from './engines.ts';
import { aWhile, type Strike } from './strikes.ts';

/** Faults in a cluster of EventStoreDB, as eventstoredb/cluster.md describes them. */

type OfCluster = (cluster: EventStoreServer, random: () => number) => Promise<void>;

const inCluster =
  (strike: OfCluster): Strike =>
  async ({ engines: { eventStore } }, random) => {
    if (eventStore) await strike(eventStore, random);
  };

const nodesOf = ({ nodes }: EventStoreServer): readonly number[] =>
  Array.from({ length: nodes }, (_, node) => node);
const nextOf = (cluster: EventStoreServer): number => (cluster.leader() + 1) % cluster.nodes;

/** The former leader lags for a while, and so does the third node. */
export const changeLeader = inCluster(async (cluster, random) => {
  const next = nextOf(cluster);
  const others = nodesOf(cluster).filter((node) => node !== next);
  for (const node of others) await cluster.order({ does: 'lag', node });
  await cluster.order({ does: 'lead', node: next });
  await aWhile(random);
  for (const node of others) await cluster.order({ does: 'catch-up', node });
});

/** The former leader returns with events that nobody else has, shows them, and truncates them. */
export const showAndCut = inCluster(async (cluster, random) => {
  const [former, next] = [cluster.leader(), nextOf(cluster)];
  await cluster.order({ does: 'stop', node: former });
  await cluster.order({ does: 'stand-alone', node: former, events: 3 });
  await cluster.order({ does: 'lead', node: next });
  await cluster.order({ does: 'become', node: former, state: 'discover-leader' });
  await cluster.order({ does: 'restart', node: former });
  await aWhile(random);
  await cluster.order({ does: 'catch-up', node: former });
  await cluster.order({ does: 'become', node: former, state: 'follower' });
});

/** For longer than one search of a client for a node. */
export const noNode = inCluster(async (cluster, random) => {
  for (const node of nodesOf(cluster)) await cluster.order({ does: 'stop', node });
  await aWhile(random);
  await aWhile(random);
  for (const node of nodesOf(cluster)) await cluster.order({ does: 'restart', node });
});

export const noLeader = inCluster(async (cluster, random) => {
  for (const node of nodesOf(cluster)) await cluster.order({ does: 'become', node, state: 'unknown' });
  await aWhile(random);
  await cluster.order({ does: 'lead', node: nextOf(cluster) });
});

/** Other requests are answered meanwhile. */
export const leaveUnanswered = inCluster(async (cluster, random) => {
  await cluster.order({ does: 'leave-unanswered', node: cluster.leader(), appends: 3 });
  await aWhile(random);
});
