import type { Sources } from './imports.ts';

/** Files that may read the real time, by how their paths begin, with their number and the reason. */
type Exception = { readonly files: number; readonly why: string };

/**
 * All other code takes `Clock` with its dependencies; `run` gives it to the roles. This list only shrinks: lower
 * a number when a file takes the clock, and remove an entry that no file needs.
 */
const REAL_TIME_IN: Readonly<Record<string, Exception>> = {
  'shared/clock/real-time.ts': { files: 1, why: 'the adapter' },
  'proof/export/': { files: 2, why: 'dates of exports, for other programs' },
  'proof/replay/': { files: 1, why: 'dates of reports, for people' },
  'proof/stored/': { files: 1, why: 'dates of keys, for other programs' },
  'proof/verify/': { files: 2, why: 'how long a verification takes, for its report and its rests' },
  'auth/': { files: 8, why: 'dates of sign-ins, of tokens and of codes, which other programs compare' },
  'command/execute.ts': { files: 1, why: 'a pause of milliseconds after a conflict' },
  'query/': { files: 6, why: 'long responses and their clients, in real time on sockets' },
  'shared/blobs/': { files: 2, why: 'times of files, and the time limit of a scanner' },
  'adapters/embedded-postgres/': { files: 2, why: 'how long a server takes to start and to stop' },
  'adapters/opentelemetry/': { files: 1, why: 'spans have real times' },
  'adapters/redis/': { files: 1, why: 'engines count by their own time' },
  'adapters/s3/': { files: 1, why: 'the limit of a request to S3' },
  'adapters/kafka/': { files: 6, why: 'how long brokers are silent' },
  'edge/command-gateway/': { files: 1, why: 'dates of assertions, which other replicas compare' },
  'shared/database/': { files: 10, why: 'leases that PostgreSQL measures, and how long servers are silent' },
  'adapters/eventstoredb/': { files: 6, why: 'how long a cluster is silent' },
  'shared/events/report-lost-keys.ts': { files: 1, why: 'log lines gather for a moment' },
  'shared/follower/': {
    files: 3,
    why: 'compared with dates of the log, the timeout of a scraper, and how long a transaction takes',
  },
  'edge/authenticate/': { files: 3, why: 'dates of tokens and proofs of other servers' },
  'edge/http/': { files: 8, why: 'sockets, and the lag of the event loop' },
  'process/foundation.ts': { files: 1, why: 'how long an event log is silent' },
  'process/observability/log.ts': {
    files: 1,
    why: 'lines of an outage, once a minute; a log is there before any clock',
  },
  'process/run.ts': {
    files: 1,
    why: 'gives every role its clock, and signals of the operating system',
  },
  'shared/projection/rebuild.ts': { files: 1, why: 'compared with dates of PostgreSQL' },
  'develop/': { files: 4, why: 'how long an author waits, for files that are saved and processes that stop' },
  'edge/rate-limit/': { files: 1, why: 'engines count by their own time' },
  'shared/tracing/': { files: 1, why: 'spans have real times' },
  'process/serve-clients.ts': { files: 1, why: 'how long load balancers take to notice a drain' },
  'process/workers/channel.ts': { files: 1, why: 'how long another process is silent' },
  'webhook-dispatcher/deliver/post.ts': { files: 1, why: 'how long a receiver is silent' },
  'webhook-dispatcher/ledger/purge.ts': { files: 1, why: 'compared with dates of PostgreSQL' },
  'webhook-dispatcher/run': { files: 2, why: 'claims that PostgreSQL measures' },
  'webhook-dispatcher/queue/': { files: 2, why: 'how long BullMQ and its engines are silent' },
};

/** Commands of a terminal wait for people; clients and pages run in browsers; authors test in real time. */
const ANYWHERE = /^(command-line|client|package|tanstack|testing|console\/app)\//;

const READINGS = [
  String.raw`(?<![.\w]|typeof )set(Timeout|Interval)\(`,
  String.raw`\bsetTimeout\b[^}]*\} from 'node:timers/promises'`,
  String.raw`\bDate\.now\b`,
  String.raw`\bnew Date\(\)`,
  String.raw`\bperformance\.now\b`,
  // The adapter: whoever imports it passes it on, or has a default that no caller replaces.
  String.raw`/real-time\.ts'`,
];
const REAL_TIME = new RegExp(READINGS.join('|'));

const readsRealTime = (source: string): boolean =>
  REAL_TIME.test(source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''));

/** Files that read the real time without an exception, and exceptions that are not needed. */
export const findRealTime = (
  sources: Sources,
  exceptions: Readonly<Record<string, Exception>> = REAL_TIME_IN,
): string[] => {
  const reading = [...sources]
    .filter(([path, source]) => !ANYWHERE.test(path) && !path.endsWith('.test.ts') && readsRealTime(source))
    .map(([path]) => path);
  const prefixOf = (path: string) => Object.keys(exceptions).find((prefix) => path.startsWith(prefix));
  return [
    ...reading
      .filter((path) => prefixOf(path) === undefined)
      .map((path) => `${path} reads the real time: give it a Clock with its dependencies.`),
    ...Object.entries(exceptions).flatMap(([prefix, { files }]) => {
      const found = reading.filter((path) => prefixOf(path) === prefix).length;
      return found === files && found > 0
        ? []
        : [`${prefix} has ${found} files that read the real time, and test/real-time.ts says ${files}.`];
    }),
  ];
};
