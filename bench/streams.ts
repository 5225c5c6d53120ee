import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../shared/database/embedded.ts';
import { listOf, numbersOf, readOptions, turnsOf } from './options.ts';
import { runBench } from './run-bench.ts';
import { measureFanOut } from './streams/fan-out.ts';
import { startWritingSide } from './streams/installation.ts';
import { measureLatency } from './streams/latency.ts';
import { CONTENDERS } from './streams/servers.ts';

// Streams of server-sent events. Fan-out: one event to many subscribers, and many to some; ours is the query
// role as an operator starts it, where every subscriber has a token of its own, against graphql-sse and
// GraphQL Yoga, which execute for each subscriber and check nothing, and against the same bytes written to
// sockets. Each is in a process of its own, and so are the subscribers of each; all of them stay connected
// while they take turns. Latency: from the acknowledgement of a write until it is heard, and until it can be
// read.
const options = readOptions({
  parts: ['fan-out,latency', 'fan-out,latency'],
  contenders: [CONTENDERS.join(','), CONTENDERS.join(',')],
  subscribers: ['100,1000,10000', '100,800'],
  // Of these numbers of subscribers, the one that is sent many events at once as well.
  'stream-to': ['1000', '800'],
  'events-at-once': ['100', '20'],
  seconds: ['3', '0.7'],
  rounds: ['3', '5'],
  // Of the latency.
  rate: ['200', '50'],
  readers: ['10', '10'],
  'latency-seconds': ['20', '5'],
  // With `kafka` a broker is started, the changes go through it, and the roles are apart.
  by: ['postgres', 'postgres'],
});

const sizes = numbersOf(options.subscribers);
/** What a process has open beside its subscribers. */
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
