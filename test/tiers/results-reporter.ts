import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** The result of one test file in one project of vitest. */
export type FileResult = {
  readonly project: string;
  readonly file: string;
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Each of its tests that took over two seconds, in seconds. */
  readonly slowTests: Readonly<Record<string, number>>;
  /** A failed test, or an error outside of its tests. */
  readonly isFailed: boolean;
};

export type RunResult = {
  readonly files: readonly FileResult[];
  /** Errors that belong to no file. */
  readonly unhandled: readonly string[];
};

/** Names the file that a run of vitest writes its results to. */
export const RESULTS_FILE = 'ANNALS_TEST_RESULTS';

const MS_PER_SECOND = 1_000;
const SLOW_MS = 2_000;

/** Vitest’s own JSON names no projects. */
class ResultsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const path = process.env[RESULTS_FILE];
    if (path === undefined) return;
    const result: RunResult = {
      files: modules.map(resultOf),
      unhandled: unhandled.map(({ message }) => message),
    };
    writeFileSync(path, `${JSON.stringify(result, null, 1)}\n`);
  }
}

const resultOf = (module: TestModule): FileResult => {
  const { duration, collectDuration } = module.diagnostic();
  const count = (state: 'passed' | 'failed' | 'skipped'): number =>
    [...module.children.allTests(state)].length;
  return {
    project: module.project.name,
    file: relative(process.cwd(), module.moduleId),
    seconds: Math.round(duration + collectDuration) / MS_PER_SECOND,
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    slowTests: slowTestsOf(module),
    isFailed: module.state() === 'failed',
  };
};

const slowTestsOf = (module: TestModule): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...module.children.allTests()]
      .map((test) => [test.fullName, test.diagnostic()?.duration ?? 0] as const)
      .filter(([, duration]) => duration > SLOW_MS)
      .map(([name, duration]) => [name, Math.round(duration) / MS_PER_SECOND]),
  );

export default ResultsReporter;
