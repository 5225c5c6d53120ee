import { openJournal } from './journal.ts';
import { openLog } from './log.ts';
import type { ServerVersion } from './product.ts';
import { type EventStoreStandIn, startNode } from './server.ts';

type ClusterOptions = {
  /** One for each node; 0 lets the system choose. */
  readonly ports?: readonly number[];
  /** The nodes' addresses in gossip, if they differ. */
  readonly advertised?: readonly number[];
  readonly journal?: string | undefined;
  readonly version?: ServerVersion | undefined;
};

export type EventStoreCluster = AsyncDisposable & {
  readonly nodes: readonly EventStoreStandIn[];
  /** With all hosts. */
  readonly address: string;
  /** From now on this node leads, and all others follow. */
  lead(node: number): void;
};

const NODES = [0, 0, 0];

/**
 * A cluster of nodes with one log; the first leads. Tests request their differences: a node lags, is between
 * states, shows events that nobody else has, or is unavailable.
 */
export const startEventStoreCluster = async ({
  ports = NODES,
  advertised,
  journal,
  version,
}: ClusterOptions = {}): Promise<EventStoreCluster> => {
  await using opening = new AsyncDisposableStack();
  const log = openLog(journal === undefined ? undefined : await openJournal(journal));
  opening.defer(() => log.close());
  await log.settled();
  const nodes: EventStoreStandIn[] = [];
  for (const [place, port] of ports.entries())
    nodes.push(
      opening.use(await startNode(log, () => nodes, { port, version, advertised: advertised?.[place] })),
    );
  const lead = (leading: number): void => {
    for (const [place, node] of nodes.entries()) node.become(place === leading ? 'leader' : 'follower');
  };
  lead(0);
  const resources = opening.move();
  return {
    nodes,
    address: `esdb://${nodes.map(({ port }) => `127.0.0.1:${port}`).join()}?tls=false`,
    lead,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
