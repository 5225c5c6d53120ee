import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { startEventStoreCluster } from './cluster.ts';
import { execute, type Order } from './orders.ts';
import { SERVER_VERSIONS } from './product.ts';
import { startEventStoreStandIn } from './server.ts';

/**
 * node test/engines/eventstoredb/main.ts --port 0 [--data FILE]: prints its address as a line of JSON and
 * serves until SIGTERM. Several ports make a cluster; --advertised sets their ports in gossip, and messages
 * control its nodes.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', multiple: true, default: ['0'] },
    advertised: { type: 'string', multiple: true },
    data: { type: 'string' },
    'append-ms': { type: 'string' },
    'live-lag-max': { type: 'string' },
    version: { type: 'string' },
  },
});
const { data: journal, 'live-lag-max': liveLagMax, advertised } = values;
const ports = values.port.map(Number);
const version = SERVER_VERSIONS.find((known) => known === values.version);

const resources = new AsyncDisposableStack();
if (advertised === undefined) {
  const limits = liveLagMax === undefined ? {} : { liveLagMax: Number(liveLagMax) };
  const standIn = resources.use(
    await startEventStoreStandIn({
      port: ports[0] ?? 0,
      version,
      ...(journal !== undefined && { journal }),
      ...(values['append-ms'] !== undefined && { appendMs: Number(values['append-ms']) }),
      ...limits,
    }),
  );
  console.log(JSON.stringify({ address: standIn.address, port: standIn.port }));
} else {
  const cluster = resources.use(
    await startEventStoreCluster({ ports, advertised: advertised.map(Number), journal, version }),
  );
  process.on('message', (order: Order) => void execute(cluster, order).then(() => process.send?.('done')));
  console.log(JSON.stringify({ address: cluster.address, port: ports[0] }));
}
await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
await resources.disposeAsync();
// Node waits for connections of HTTP/2 that clients still hold, now and then for ever and with a whole core.
process.exit();
