import type { Runner } from './runner.ts';
import type { Outcome } from './warm-vitest.ts';

const RUN_MAX_MS = 3_600_000;

/**
 * Runs tests without a mutant, and those that fail once more. Tells how long each takes that passes: one that
 * fails anyway would find every mutant.
 */
export const runUnchanged = async (
  runner: Pick<Runner, 'run'>,
  files: readonly string[],
): Promise<Readonly<Record<string, number>>> => {
  const { durationsMs, failures } = await mustRun(runner, files);
  const failed = Object.keys(failures).filter((file) => file in durationsMs);
  const again = failed.length === 0 ? undefined : await mustRun(runner, failed);
  const failing = failed.filter((file) => again?.durationsMs[file] === undefined || file in again.failures);
  for (const file of failing) console.log(`Not used, it fails without a mutant: ${file}`);
  return Object.fromEntries(Object.entries(durationsMs).filter(([file]) => !failing.includes(file)));
};

const mustRun = async (runner: Pick<Runner, 'run'>, files: readonly string[]): Promise<Outcome> => {
  const outcome = await runner.run({ files }, RUN_MAX_MS);
  if ('without' in outcome) throw new Error(`The tests could not be run without a mutant: ${outcome.why}`);
  return outcome;
};
