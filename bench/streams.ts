import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../shared/database/embedded.ts';
import { measureFanOut } from './streams/fan-out.ts';
import { startWritingSide } from './streams/installation.ts';
import { measureLatency } from './streams/latency.ts';
import { CONTENDERS } from './streams/servers.ts';

// Streams of server-sent events. Fan-out: one event to many subscribers, and many to some; ours is the query role as an operator starts it,
// where every subscriber has a token of its own, against graphql-sse and GraphQL Yoga, which execute for each subscriber and check nothing,
// and against the same bytes written to sockets. Each is in a process of its own, and so are the subscribers of each; all of them stay
// connected while they take turns. Latency: from the acknowledgement of a write until it is heard, and until it can be read.
const { values: options } = parseArgs({
  options: {
    parts: { type: 'string', default: 'fan-out,latency' },
    contenders: { type: 'string', default: CONTENDERS.join(',') },
    subscribers: { type: 'string', default: '100,1000,10000' },
    // Of these numbers of subscribers, the one that is sent many events at once as well.
    'stream-to': { type: 'string', default: '1000' },
    'events-at-once': { type: 'string', default: '100' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    // Of the latency.
    rate: { type: 'string', default: '200' },
    readers: { type: 'string', default: '10' },
    'latency-seconds': { type: 'string', default: '20' },
    // A broker is started, the changes go through it, and the roles are apart.
    kafka: { type: 'boolean', default: false },
  },
});

const sizes = options.subscribers.split(',').map(Number);
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
    contenders: options.contenders.split(','),
    sizes,
    streamTo: Number(options['stream-to']),
    eventsAtOnce: Number(options['events-at-once']),
    rounds: Number(options.rounds),
    durationMs: Number(options.seconds) * 1_000,
  });
};

const dataDir = await mkdtemp(join(tmpdir(), 'annals-bench-'));
await chmod(dataDir, 0o755);
try {
  const parts = options.parts.split(',');
  if (parts.includes('fan-out')) await runFanOut(join(dataDir, 'fan-out'));
  const latency = {
    rate: Number(options.rate),
    readers: Number(options.readers),
    seconds: Number(options['latency-seconds']),
    isByKafka: options.kafka,
  };
  if (parts.includes('latency')) await measureLatency(join(dataDir, 'latency'), latency);
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
