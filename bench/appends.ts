import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../shared/database/embedded.ts';
import { CONTENDERS, type ContenderName } from './contenders.ts';
import type { Loaded } from './load.ts';
import { median, printTable } from './table.ts';
import { runWriters } from './writers.ts';

// Durable appends of one event to a new stream, by 1, 32 and 256 writers in a closed loop, on one PostgreSQL server with its durable settings.
// The contenders take turns within each round, so that a machine that drifts drifts for all of them; the table has the medians.
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    writers: { type: 'string', default: '1,32,256' },
  },
});
const [seconds, rounds] = [Number(options.seconds), Number(options.rounds)];

type Entry = { readonly title: string; readonly contender: ContenderName; readonly processes: number };

const ENTRIES: readonly Entry[] = [
  { title: 'ours, one process', contender: 'ours', processes: 1 },
  { title: 'ours, four processes', contender: 'ours', processes: 4 },
  ...(['plainInsert', 'lockPerAppend', 'emmett'] as const).map((contender) => ({
    title: CONTENDERS[contender].title,
    contender,
    processes: 1,
  })),
];

const dataDir = await mkdtemp(join(tmpdir(), 'annals-bench-'));
await chmod(dataDir, 0o755);
try {
  await using server = await startEmbeddedPostgres({ dataDir });
  for (const writers of options.writers.split(',').map(Number)) {
    const entries = ENTRIES.filter(({ processes }) => processes <= writers);
    const runs = new Map<Entry, Loaded[]>(entries.map((entry) => [entry, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const entry of entries) {
        runs.get(entry)?.push(await runWriters({ ...entry, url: server.url, writers, seconds }));
        process.stderr.write('.');
      }
    }
    process.stderr.write('\n');
    const rateOf = (entry: Entry | undefined): number => median((entry && runs.get(entry)?.map(({ rate }) => rate)) ?? []);
    const ours = rateOf(ENTRIES[0]);
    printTable(
      [`${writers} writer${writers === 1 ? '' : 's'}`, 'appends/s', 'p50 ms', 'p99 ms', 'ours is'],
      entries.map((entry) => [
        entry.title,
        Math.round(rateOf(entry)).toLocaleString('en'),
        median(runs.get(entry)?.map(({ p50Ms }) => p50Ms) ?? []).toFixed(2),
        median(runs.get(entry)?.map(({ p99Ms }) => p99Ms) ?? []).toFixed(2),
        `${(ours / rateOf(entry)).toFixed(2)} ×`,
      ]),
    );
  }
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
