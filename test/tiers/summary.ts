import type { FileResult } from './results-reporter.ts';
import type { StepResult } from './run-step.ts';

/** The content of `test-results/<tier>.json`. */
export type TierResult = {
  readonly tier: string;
  readonly startedAt: string;
  readonly cores: number;
  readonly minutes: number;
  readonly steps: readonly StepResult[];
  readonly minutesOfProjects: Readonly<Record<string, number>>;
  readonly slowestFiles: readonly FileResult[];
  readonly starts: Readonly<Record<string, number>>;
};

const SLOWEST = 50;
const SHOWN = 10;
const SECONDS_PER_MINUTE = 60;

const minutesOf = (seconds: number): number => Math.round((10 * seconds) / SECONDS_PER_MINUTE) / 10;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

export const tierResultOf = (
  { tier, startedAt, cores }: Pick<TierResult, 'tier' | 'startedAt' | 'cores'>,
  steps: readonly StepResult[],
): TierResult => {
  const files = steps.flatMap((step) => step.files);
  const byProject = Object.entries(Object.groupBy(files, ({ project }) => project));
  return {
    tier,
    startedAt,
    cores,
    minutes: minutesOf(sum(steps.map(({ seconds }) => seconds))),
    steps,
    // Files run in parallel, so these add up to more than the minutes of the steps.
    minutesOfProjects: Object.fromEntries(
      byProject.map(([name, those = []]) => [name, minutesOf(sum(those.map(({ seconds }) => seconds)))]),
    ),
    slowestFiles: files.toSorted((one, other) => other.seconds - one.seconds).slice(0, SLOWEST),
    starts: Object.fromEntries(
      [...new Set(steps.flatMap(({ starts = {} }) => Object.keys(starts)))].map((kind) => [
        kind,
        sum(steps.map(({ starts }) => starts?.[kind] ?? 0)),
      ]),
    ),
  };
};

/** Every test file that failed once and then passed alone. */
const flakyIn = (steps: readonly StepResult[]) =>
  steps.flatMap(({ name, secondRuns }) =>
    secondRuns.filter(({ isPassed }) => isPassed).map((run) => ({ ...run, step: name })),
  );

/**
 * A table of the steps, the slowest files, what failed once, and the numbers of tests in a line of their own.
 */
export const summaryOf = ({
  minutes,
  minutesOfProjects,
  steps,
  slowestFiles,
  starts,
}: TierResult): string => {
  const rows = steps.map((step) => [
    step.name,
    minutesOf(step.seconds).toFixed(1),
    ...[step.files.length, ...countsOf(step)].map(String),
    [step.outcome, step.why].filter(Boolean).join(': '),
  ]);
  const files = sum(steps.map((step) => step.files.length));
  const [passed, failedTests, skipped] = [0, 1, 2].map((index) =>
    sum(steps.map((step) => countsOf(step)[index] ?? 0)),
  );
  const total = ['all', minutes.toFixed(1), ...[files, passed, failedTests, skipped].map(String), ''];
  return [
    ...tableOf([['step', 'minutes', 'files', 'passed', 'failed', 'skipped', ''], ...rows, total]),
    '',
    'Slowest files:',
    ...slowestFiles.slice(0, SHOWN).map((each) => `${each.seconds.toFixed(1).padStart(7)} s  ${each.file}`),
    '',
    `Minutes of test files by project: ${listOf(minutesOfProjects)}`,
    `Starts: ${listOf(starts)}`,
    ...commitsIn(steps),
    ...flakyIn(steps).map(
      ({ step, file, seed, load }) =>
        `Failed once, and passed alone: ${file} (${step}, TEST_SEED=${seed}, load ${load.toFixed(1)})`,
    ),
    '',
    verdictOn(steps),
    // Programs that run this read it.
    `${passed} passed, ${failedTests} failed, ${skipped} skipped`,
  ].join('\n');
};

const listOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ');

/** After a resumed run: which steps ran at which commit. */
const commitsIn = (steps: readonly StepResult[]): readonly string[] => {
  const byCommit = Map.groupBy(steps, ({ commit }) => commit);
  if (byCommit.size <= 1) return [];
  return [...byCommit].map(
    ([commit, those]) => `Ran at ${commit ?? 'no known commit'}: ${those.map(({ name }) => name).join(', ')}`,
  );
};

const verdictOn = (steps: readonly StepResult[]): string => {
  const namesOf = (outcome: StepResult['outcome']): string =>
    steps
      .filter((step) => step.outcome === outcome)
      .map(({ name }) => name)
      .join(', ');
  const [failed, skipped] = [namesOf('failed'), namesOf('skipped')];
  if (failed !== '') return `Failed: ${failed}.`;
  return skipped === '' ? 'All green.' : `Green, but not run: ${skipped}.`;
};

/** A file that passed alone has no failed tests. */
const countsOf = ({ files, secondRuns }: StepResult): readonly [number, number, number] => {
  const steady = new Set(secondRuns.filter(({ isPassed }) => isPassed).map(({ file }) => file));
  const recovered = sum(files.filter(({ file }) => steady.has(file)).map(({ failed }) => failed));
  const [passed, failed, skipped] = (['passed', 'failed', 'skipped'] as const).map((state) =>
    sum(files.map((file) => file[state])),
  ) as [number, number, number];
  return [passed + recovered, failed - recovered, skipped];
};

const tableOf = (rows: readonly (readonly string[])[]): readonly string[] => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const isText = column === 0 || column === row.length - 1;
        return isText ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
      })
      .join('  ')
      .trimEnd(),
  );
};
