import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { type Given, numberOf } from '../../command-line/arguments/command.ts';
import { UsageError } from '../../command-line/arguments/usage-error.ts';
import { ROOT } from '../checkout-copy.ts';
import { type Tool, toolArguments } from '../tool-arguments.ts';
import { runStep, type StepResult } from './run-step.ts';
import { type Step, TIERS, type Tier } from './steps.ts';
import { summaryOf, type TierResult, tierResultOf } from './summary.ts';

type Arguments = {
  readonly from: string | undefined;
  readonly only: readonly string[];
  readonly seed: number | undefined;
  readonly times: number;
};

const SEED_MAX = 2 ** 31 - 1;
const TIMES_MAX = 100;

const toolOf = (tier: Tier, summary: string): Tool => ({
  script: `test:${tier}`,
  summary: `${summary} Prints a table of minutes, writes test-results/${tier}.json, and exits with 1 if a step failed.`,
  positionals: [],
  options: {
    from: {
      type: 'string',
      placeholder: '<step>',
      description: 'Resumes: keeps the results of the steps before.',
    },
    only: {
      type: 'string',
      multiple: true,
      placeholder: '<step>',
      description: `Only this step; may be given several times: ${TIERS[tier].map(({ name }) => name).join(', ')}.`,
    },
    seed: {
      type: 'string',
      placeholder: '<number>',
      description: 'Repeats what is random in a run; without it, made up and printed for what fails.',
    },
    times: {
      type: 'string',
      placeholder: '<number>',
      description: 'Runs all steps so many times, and counts the files that failed once (1).',
    },
  },
  examples: ['', '--from chaos', '--only journeys --seed 7'],
});

const readFor =
  (tier: Tier) =>
  (given: Given): Arguments => {
    const names = TIERS[tier].map(({ name }) => name);
    const [from] = given.values.get('from') ?? [];
    const only = given.values.get('only') ?? [];
    const unknown = [from, ...only].find((name) => name !== undefined && !names.includes(name));
    if (unknown !== undefined)
      throw new UsageError(`there is no step ${unknown}; the steps are ${names.join(', ')}`);
    if (from !== undefined && only.length > 0) throw new UsageError('--from and --only exclude each other');
    return {
      from,
      only,
      seed: numberOf(given, 'seed', { minimum: 0, maximum: SEED_MAX }),
      times: numberOf(given, 'times', { minimum: 1, maximum: TIMES_MAX }) ?? 1,
    };
  };

const FOLDER = join(ROOT, 'test-results');

/** Runs the steps of a tier one after the other, all of them even if one fails. */
export const runTier = async (tier: Tier, summary: string): Promise<void> => {
  const given = toolArguments(toolOf(tier, summary), readFor(tier));
  const results: TierResult[] = [];
  for (let time = 1; time <= given.times; time += 1)
    results.push(await runOnce(tier, given, suffixOf(given, time)));
  if (given.times > 1) console.log(flakyFiles(results));
  if (results.some(({ steps }) => steps.some(({ outcome }) => outcome === 'failed'))) process.exitCode = 1;
};

/** One step, and each of several runs, have a file of their own: a whole run can still be resumed. */
const suffixOf = ({ only, times }: Arguments, time: number): string => {
  if (only.length > 0) return `-${only.join('-')}`;
  return times > 1 ? `-${time}` : '';
};

const runOnce = async (tier: Tier, { from, only, seed }: Arguments, suffix: string): Promise<TierResult> => {
  mkdirSync(FOLDER, { recursive: true });
  const path = join(FOLDER, `${tier}${suffix}.json`);
  const { before, chosen } = choose(tier, { from, only, path: join(FOLDER, `${tier}.json`) });
  const about = { tier, startedAt: new Date().toISOString(), cores: cpus().length };
  const done: StepResult[] = [...before];
  const commit = commitOf();
  for (const [index, step] of chosen.entries()) {
    console.log(`== ${index + 1} of ${chosen.length}: ${step.name}`);
    done.push({ ...demanded(await runStep(step, { folder: FOLDER, seed })), commit });
    writeFileSync(path, `${JSON.stringify(tierResultOf(about, done), null, 1)}\n`);
  }
  const result = tierResultOf(about, done);
  console.log(`\n${summaryOf(result)}`);
  return result;
};

/** Of the checkout, with a mark if files of it are changed; undefined without git. */
const commitOf = (): string | undefined => {
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--dirty', '--exclude=*'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : undefined;
};

type Choice = Pick<Arguments, 'from' | 'only'> & { readonly path: string };

const choose = (
  tier: Tier,
  { from, only, path }: Choice,
): { readonly before: readonly StepResult[]; readonly chosen: readonly Step[] } => {
  const steps = TIERS[tier];
  if (only.length > 0) return { before: [], chosen: steps.filter(({ name }) => only.includes(name)) };
  const first = steps.findIndex(({ name }) => name === from);
  if (first <= 0) return { before: [], chosen: steps };
  const kept = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as TierResult).steps : [];
  const before = steps.slice(0, first).map(({ name }) => kept.find((step) => step.name === name) ?? name);
  const missing = before.filter((each) => typeof each === 'string');
  if (missing.length > 0)
    throw new Error(`There are no results of ${missing.join(', ')} to resume from: leave out --from.`);
  return { before: before.filter((each) => typeof each !== 'string'), chosen: steps.slice(first) };
};

/** Building the control plane of a cluster needs Go; all other programs are installed before on CI. */
const MAY_BE_MISSING = 'kubernetes';

const demanded = (result: StepResult): StepResult =>
  result.outcome === 'skipped' && process.env.CI === 'true' && result.name !== MAY_BE_MISSING
    ? { ...result, outcome: 'failed' }
    : result;

/** A file that needs two runs in ten belongs into quarantine.ts. */
const flakyFiles = (results: readonly TierResult[]): string => {
  const runs = results.map(
    ({ steps }) => new Set(steps.flatMap(({ secondRuns }) => secondRuns.map(({ file }) => file))),
  );
  const files = [...new Set(runs.flatMap((those) => [...those]))];
  return [
    `${files.length} files needed a second run in ${results.length} runs.`,
    ...files.map((file) => `${runs.filter((those) => those.has(file)).length} of ${runs.length}: ${file}`),
  ].join('\n');
};
