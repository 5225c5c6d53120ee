import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { constants, loadavg } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../checkout-copy.ts';
import { WITHOUT } from './left-out.ts';
import { type FileResult, RESULTS_FILE, type RunResult } from './results-reporter.ts';
import { isVitest, type Step, type Vitest } from './steps.ts';

export type StepResult = {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it failed outside of a test, or was skipped. */
  readonly why?: string;
  readonly seconds: number;
  readonly files: readonly FileResult[];
  readonly secondRuns: readonly SecondRun[];
  /** The commit that was checked out; a run that resumes may have steps of several ones. */
  readonly commit?: string | undefined;
  /** How many of each kind its tests started. */
  readonly starts?: Readonly<Record<string, number>>;
};

/** A failed file that ran once more, by itself. */
type SecondRun = {
  readonly project: string;
  readonly file: string;
  readonly seed: number;
  /** The load of the machine when the first run ended. */
  readonly load: number;
  readonly isPassed: boolean;
};

/** More failures than this have a common cause. */
const SECOND_RUNS_MAX = 3;
const SEED_MAX = 2 ** 31;
const MS_PER_SECOND = 1_000;

type RunOptions = {
  /** The folder for the results. */
  readonly folder: string;
  readonly seed?: number | undefined;
  /** The checkout whose tests run; by default this one. */
  readonly root?: string;
  /** Whether nothing is printed. */
  readonly isQuiet?: boolean;
};

/** Runs a step, and each failed file once more by itself. */
export const runStep = async (step: Step, options: RunOptions): Promise<StepResult> => {
  const startedAtMs = performance.now();
  const counted = join(options.folder, 'starts');
  rmSync(counted, { force: true });
  const outcome = await outcomeOf(step, options);
  return {
    name: step.name,
    seconds: Math.round((performance.now() - startedAtMs) / MS_PER_SECOND),
    ...outcome,
    ...(existsSync(counted) && { starts: startsIn(readFileSync(counted, 'utf8')) }),
  };
};

const startsIn = (lines: string): Readonly<Record<string, number>> => {
  const kinds = lines.split('\n').flatMap((line) => (line === '' ? [] : line.slice(0, line.indexOf('\t'))));
  const byKind = Object.entries(Object.groupBy(kinds, (kind) => kind));
  return Object.fromEntries(byKind.map(([kind, those = []]) => [kind, those.length]));
};

type Outcome = Omit<StepResult, 'name' | 'seconds'>;
const NOTHING = { files: [], secondRuns: [] };
const failed = (why: string): Outcome => ({ outcome: 'failed', why, ...NOTHING });

const outcomeOf = async ({ run, before, missing }: Step, options: RunOptions): Promise<Outcome> => {
  if (missing !== undefined) return { outcome: 'skipped', why: missing, ...NOTHING };
  for (const program of [before, isVitest(run) ? undefined : run]) {
    const ended = program && (await runProgram(program, options));
    if (ended !== undefined && ended !== 0) return failed(`${program?.join(' ')} ended with ${ended}`);
  }
  return isVitest(run) ? runTests(run, options) : { outcome: 'passed', ...NOTHING };
};

const runTests = async (run: Vitest, options: RunOptions): Promise<Outcome> => {
  const seed = options.seed ?? Math.floor(Math.random() * SEED_MAX);
  const known = { ...options, seed };
  const filter = run.files === undefined ? [] : [run.files];
  const first = await runVitest(run, filter, known);
  if (first === undefined) return failed('vitest ended without results');
  const { files, unhandled } = first;
  if (unhandled.length > 0) return { ...failed(`unhandled error: ${unhandled[0]}`), files };
  if (files.length === 0) return failed('there is no test file');
  const broken = files.filter(({ isFailed }) => isFailed);
  if (broken.length === 0 && first.exit !== 0) return { ...failed(`vitest ended with ${first.exit}`), files };
  if (broken.length > SECOND_RUNS_MAX) return { ...failed(`${broken.length} files failed`), files };
  const load = loadavg()[0] ?? 0;
  const secondRuns: SecondRun[] = [];
  for (const { project, file } of broken) {
    console.log(`== ${file} failed with TEST_SEED=${seed} at load ${load.toFixed(1)}; it runs again alone`);
    const again = await runVitest({ ...run, projects: [project], maxWorkers: 1 }, [file], known);
    const isPassed = again !== undefined && hasPassed(again, file);
    secondRuns.push({ project, file, seed, load, isPassed });
  }
  const isBroken = secondRuns.some(({ isPassed }) => !isPassed);
  return { outcome: isBroken ? 'failed' : 'passed', files, secondRuns };
};

const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');
const REPORTER = join(ROOT, 'test/tiers/results-reporter.ts');

type Ended = RunResult & { readonly exit: number };

/** A run of no test at all has not passed. */
const hasPassed = ({ exit, files }: Ended, file: string): boolean =>
  exit === 0 && files.some((each) => each.file === file && each.passed > 0);

/** Undefined if it ended before it could write its results. */
const runVitest = async (
  { projects, maxWorkers, without = [], env = {} }: Vitest,
  files: readonly string[],
  options: RunOptions,
): Promise<Ended | undefined> => {
  const path = join(options.folder, 'vitest.json');
  rmSync(path, { force: true });
  const args = [
    'run',
    ...projects.flatMap((project) => ['--project', project]),
    ...(maxWorkers === undefined ? [] : ['--maxWorkers', String(maxWorkers)]),
    ...['--reporter=default', `--reporter=${REPORTER}`],
    ...files,
  ];
  const settings = {
    ...env,
    TEST_SEED: String(options.seed),
    [RESULTS_FILE]: path,
    [WITHOUT]: JSON.stringify(without),
    ANNALS_TEST_STARTS: join(options.folder, 'starts'),
  };
  const exit = await runProgram(['node', VITEST, ...args], { ...options, env: settings });
  return existsSync(path) ? { ...(JSON.parse(readFileSync(path, 'utf8')) as RunResult), exit } : undefined;
};

type ProgramOptions = Pick<RunOptions, 'root' | 'isQuiet'> & {
  readonly env?: Readonly<Record<string, string>>;
};

const runProgram = (
  [program = '', ...args]: readonly string[],
  { env = {}, root = ROOT, isQuiet = false }: ProgramOptions,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(program === 'node' ? process.execPath : program, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: isQuiet ? 'ignore' : ['ignore', 'inherit', 'inherit'],
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      // Ctrl+C ends both.
      if (signal === 'SIGINT') process.exit(128 + constants.signals.SIGINT);
      resolve(code ?? 1);
    });
  });
