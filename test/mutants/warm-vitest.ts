import { join, relative } from 'node:path';
import { BaseSequencer, createVitest, type TestModule, type TestSpecification } from 'vitest/node';
import { isByTimeLimit } from './time-limit.ts';

/**
 * A process with a vitest that stays, so that PostgreSQL runs and unchanged modules need not be transformed
 * again. It runs the files that its parent names, in their order.
 */
export type Order = {
  readonly files: readonly string[];
  /** The files that differ from the last run. */
  readonly changed?: readonly string[];
};
export type Outcome = {
  readonly durationsMs: Readonly<Record<string, number>>;
  /** A failed test for each file that failed. */
  readonly failures: Readonly<Record<string, string>>;
  /** The files that failed because a time limit was over. */
  readonly late: readonly string[];
};

const [root = '', maxWorkers = '1', bail = '1', projects = ''] = process.argv.slice(2);

class AsNamed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files;
  }
}

const UNHANDLED = 'unhandled errors';

const ended: TestModule[] = [];
const vitest = await createVitest('test', {
  root,
  config: join(root, 'vitest.config.ts'),
  watch: false,
  project: projects.split(','),
  maxWorkers: Number(maxWorkers),
  bail: Number(bail),
  reporters: [{ onTestModuleEnd: (module) => void ended.push(module) }],
  cache: false,
  ...(bail === '1' && { sequence: { sequencer: AsNamed } }),
});
/** A loaded machine must not find a mutant. */
const TIMEOUT_FACTOR = 3;
for (const project of vitest.projects) {
  const { test, hook } = project.getProvidedContext().limitsMs;
  project.provide('limitsMs', { test: TIMEOUT_FACTOR * test, hook: TIMEOUT_FACTOR * hook });
}
await vitest.globTestSpecifications();

const run = async ({ files, changed = [] }: Order): Promise<Outcome> => {
  for (const file of changed) vitest.invalidateFile(join(root, file));
  const chosen = files.flatMap((file) => vitest.getModuleSpecifications(join(root, file)));
  ended.length = 0;
  const { unhandledErrors } = await vitest.runTestSpecifications(chosen);
  const durationsMs: Record<string, number> = {};
  const failures: Record<string, string> = {};
  const late: string[] = [];
  for (const module of ended) {
    const file = relative(root, module.moduleId);
    const { duration, collectDuration } = module.diagnostic();
    durationsMs[file] = Math.round(duration + collectDuration);
    const [failed] = module.children.allTests('failed');
    const [error] = failed?.result().errors ?? module.errors();
    if (module.state() !== 'failed') continue;
    failures[file] = failed?.fullName ?? `before its tests: ${error?.message}`;
    if (isByTimeLimit(error?.message)) late.push(file);
  }
  if (unhandledErrors.length > 0) {
    failures[UNHANDLED] = String(unhandledErrors[0]);
    if (isByTimeLimit(failures[UNHANDLED])) late.push(UNHANDLED);
  }
  return { durationsMs, failures, late };
};

process.on('message', (order: Order) => {
  run(order).then(
    (outcome) => process.send?.(outcome),
    (error: unknown) =>
      process.send?.({ durationsMs: {}, failures: { vitest: String(error) }, late: [] } satisfies Outcome),
  );
});
process.on('disconnect', () => void vitest.close().finally(() => process.exit()));
process.send?.('ready');
