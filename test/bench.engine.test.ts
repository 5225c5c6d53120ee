import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../testing/until.ts';
import { temporaryDataDir } from './engines/data-dir.ts';

const root = join(import.meta.dirname, '..');

/** The processes started with the folder in their arguments or environment, by `cmdline` and `environ`. */
const processesOf = (folder: string): readonly string[] => {
  const read = (pid: string, file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => `${read(pid, 'cmdline')}${read(pid, 'environ')}`.includes(folder))
    .map((pid) => read(pid, 'cmdline'));
};

type Bench = { readonly folder: string; output(): string };

/** Too many rounds to end by itself. */
const READS = ['--contenders', 'ours,node-http', '--seconds', '1', '--rounds', '1000', '--scales', '1'];
const isRunning = (name: string) => (bench: Bench) =>
  processesOf(bench.folder).some((line) => line.includes(name));

test.each([
  ['has made its folder', ({ folder }: Bench) => readdirSync(folder).length > 0, 'SIGINT'],
  ['makes its database', isRunning('initdb'), 'SIGTERM'],
  [
    'has its database',
    ({ folder }: Bench) => globSync(join(folder, '**/postmaster.pid')).length > 0,
    'SIGINT',
  ],
  ['starts Annals', isRunning('main.ts'), 'SIGTERM'],
  ['starts a peer', isRunning('node-http.ts'), 'SIGINT'],
  ['measures', ({ output }: Bench) => output().includes('.'), 'SIGTERM'],
  ['measures, and cannot clean up itself', ({ output }: Bench) => output().includes('.'), 'SIGKILL'],
] as const)(
  'a bench that is interrupted when it %s leaves no process and no folder',
  async (_, isReached, signal) => {
    await using made = await temporaryDataDir();
    const folder = made.path;
    const env = { ...process.env, TMPDIR: folder };
    const child = spawn(process.execPath, [join(root, 'bench/reads.ts'), ...READS], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exited = once(child, 'exit');
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const bench = { folder, output: () => output };
    try {
      await until(() => isReached(bench) || child.exitCode !== null, Boolean, STARTED_MS);
      expect(child.exitCode, output).toBeNull();
    } finally {
      child.kill(signal);
    }
    await exited;
    if (signal === 'SIGKILL')
      await until(
        () => [...processesOf(folder), ...readdirSync(folder)],
        (left) => left.length === 0,
        STARTED_MS,
      );
    expect(processesOf(folder)).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  },
);

const STARTED_MS = 60_000;

test('every bench cleans up after itself', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'bench/package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const files = Object.values(scripts).flatMap((line) => /node ([\w-]+\.ts)/.exec(line)?.[1] ?? []);
  expect(files.length).toBeGreaterThan(5);
  for (const file of files.filter((name) => name !== 'bench.ts'))
    expect(readFileSync(join(root, 'bench', file), 'utf8'), file).toMatch(/await runBench(OnPostgres)?\(/);
});
