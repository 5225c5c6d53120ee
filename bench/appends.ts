import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../shared/database/embedded.ts';
import { CONTENDERS, type ContenderName } from './contenders.ts';
import { median, printTable } from './table.ts';

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

type Measured = { readonly rate: number; readonly p50Ms: number; readonly p99Ms: number };
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

const measure = async ({ contender, processes }: Entry, url: string, writers: number): Promise<Measured> => {
  const children = Array.from({ length: processes }, () =>
    fork(new URL('./writer.ts', import.meta.url), [
      `--contender=${contender}`,
      `--url=${url}`,
      `--writers=${Math.max(1, Math.round(writers / processes))}`,
      `--seconds=${seconds}`,
    ]),
  );
  await Promise.all(children.map(nextMessage));
  const answers = children.map(nextMessage);
  for (const child of children) child.send('go');
  const measured = (await Promise.all(answers)) as Measured[];
  await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')));
  return {
    rate: measured.reduce((sum, { rate }) => sum + rate, 0),
    p50Ms: median(measured.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...measured.map(({ p99Ms }) => p99Ms)),
  };
};

/** A child that dies before it answers ends the run. */
const nextMessage = async (child: ChildProcess): Promise<unknown> => {
  const [message] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`a writer ended with ${code} before it answered`);
    }),
  ]);
  return message;
};

const dataDir = await mkdtemp(join(tmpdir(), 'annals-bench-'));
await chmod(dataDir, 0o755);
try {
  await using server = await startEmbeddedPostgres({ dataDir });
  for (const writers of options.writers.split(',').map(Number)) {
    const entries = ENTRIES.filter(({ processes }) => processes <= writers);
    const runs = new Map<Entry, Measured[]>(entries.map((entry) => [entry, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const entry of entries) {
        runs.get(entry)?.push(await measure(entry, server.url, writers));
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
