import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../adapters/embedded-postgres/embedded.ts';
import { listOf, numbersOf, readOptions, turnsOf } from './options.ts';
import { runBench } from './run-bench.ts';
import { measureFanOut } from './streams/fan-out.ts';
import { startWritingSide } from './streams/installation.ts';
import { measureLatency } from './streams/latency.ts';
import { CONTENDERS } from './streams/servers.ts';

// Measures streams of server-sent events. Fan-out: one event to many subscribers, and many events to some.
// Ours is the query role as an operator starts it, where every subscriber has a token of its own. The
// contenders are graphql-sse and GraphQL Yoga, which execute for each subscriber and check nothing, and a
// writer of the same bytes to sockets. Each has a process of its own, and so have its subscribers; all stay
// connected while they take turns. Latency: from the acknowledgement of a write until a subscriber gets it,
// and until it can be read.
const options = readOptions({
  parts: ['fan-out,latency', 'fan-out,latency'],
  contenders: [CONTENDERS.join(','), CONTENDERS.join(',')],
  subscribers: ['100,1000,10000', '100,800'],
  // The number of subscribers that also gets many events at once.
  'stream-to': ['1000', '800'],
  'events-at-once': ['100', '20'],
  seconds: ['3', '0.7'],
  rounds: ['3', '5'],
  // The options of the latency part.
  rate: ['200', '50'],
  readers: ['10', '10'],
  'latency-seconds': ['20', '5'],
  // With `kafka` it starts a broker for the changes, and separate roles.
  by: ['postgres', 'postgres'],
});

const sizes = numbersOf(options.subscribers);
/** Files that a process has open beside its subscribers. */
const OTHER_FILES = 200;

const demandOpenFiles = (): void => {
  const limit = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }));
  const needed = Math.max(...sizes) + OTHER_FILES;
  if (limit >= needed) return;
  throw new Error(
    `A process may have ${limit} files open, and ${needed} are needed: raise that by \`ulimit -n ${needed}\` in this shell (what is allowed ` +
      'at most is set by root: in /etc/security/limits.conf, by LimitNOFILE= of a service, by --ulimit nofile= of a container), or ask for ' +
      'fewer --subscribers.',
  );
};

const runFanOut = async (dataDir: string): Promise<void> => {
  demandOpenFiles();
  await using postgres = await startEmbeddedPostgres({ dataDir });
  await using side = await startWritingSide({ databaseUrl: postgres.url, dataDir });
  await measureFanOut(side, {
    contenders: listOf(options.contenders),
    sizes,
    streamTo: Number(options['stream-to']),
    eventsAtOnce: Number(options['events-at-once']),
    ...turnsOf(options),
  });
};

await runBench(async (folder) => {
  const parts = listOf(options.parts);
  if (parts.includes('fan-out')) await runFanOut(join(folder, 'fan-out'));
  const latency = {
    rate: Number(options.rate),
    readers: Number(options.readers),
    seconds: Number(options['latency-seconds']),
    isByKafka: options.by === 'kafka',
  };
  if (parts.includes('latency')) await measureLatency(join(folder, 'latency'), latency);
});
