import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** The result of one file of tests in one project of vitest. */
export type FileResult = {
  readonly project: string;
  readonly file: string;
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
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
    isFailed: module.state() === 'failed',
  };
};

export default ResultsReporter;
