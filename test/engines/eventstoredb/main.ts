import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { startEventStoreStandIn } from './server.ts';

/** node test/engines/eventstoredb/main.ts --port 0 [--data FILE]: prints its address as a line of JSON and serves until SIGTERM. */
const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, data: { type: 'string' }, 'live-lag-max': { type: 'string' } },
});
const { data, 'live-lag-max': liveLagMax } = values;

await using standIn = await startEventStoreStandIn({
  port: Number(values.port),
  ...(data === undefined ? {} : { journal: data }),
  ...(liveLagMax === undefined ? {} : { liveLagMax: Number(liveLagMax) }),
});
console.log(JSON.stringify({ address: standIn.address, port: standIn.port }));
await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
