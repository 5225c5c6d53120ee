import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyCheckout } from '../checkout-copy.ts';
import type { Mutant } from './mutants.ts';
import type { Distances } from './order.ts';
import { instrument, type Reach, readReach } from './reach.ts';
import { Runner } from './runner.ts';
import { runUnchanged } from './unchanged.ts';

type Observed = {
  readonly reachOf: (mutant: Mutant) => Reach;
  readonly durationsMs: Readonly<Record<string, number>>;
  readonly distances: Distances;
};

const NOWHERE: Reach = { files: new Set(), isLoaded: false };

/** Runs the tests once to see which execute each mutant. */
export const observe = async (
  mutants: readonly Mutant[],
  distances: Distances,
  options: { readonly projects: string; readonly maxWorkers: number },
): Promise<Observed> => {
  const root = copyCheckout();
  const folder = mkdtempSync(join(tmpdir(), 'reached-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const noted = join(folder, 'mutants');
  writeFileSync(noted, '');
  instrument(root, mutants);
  const recorder = join(root, 'test/mutants/recorder.ts');
  const env = { REACHED_INTO: noted, NODE_OPTIONS: `--import=${recorder}` };
  await using runner = new Runner(root, { ...options, bail: 0, env });
  const importing = new Set(mutants.flatMap(({ file }) => [...distances(file).keys()]));
  const files = [...importing].filter((file) => file.endsWith('.test.ts'));
  const durationsMs = await runUnchanged(runner, files);
  const reach = readReach(root, readFileSync(noted, 'utf8'), mutants, Object.keys(durationsMs));
  return {
    reachOf: (mutant) => reach.get(mutant) ?? NOWHERE,
    durationsMs,
    distances,
  };
};
