import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyCheckout } from '../checkout-copy.ts';
import type { Mutant } from './mutants.ts';
import type { Distances } from './order.ts';
import { instrument, type Reach, readReach } from './reach.ts';
import { Runner } from './runner.ts';

type Observed = {
  readonly reachOf: (mutant: Mutant) => Reach;
  readonly durationsMs: Readonly<Record<string, number>>;
  readonly distances: Distances;
};

const RUN_MAX_MS = 3_600_000;
const NOWHERE: Reach = { files: new Set(), isLoaded: false };

/** Runs the tests once to see which execute each mutant. Files that fail without any mutant find none. */
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
  const outcome = await runner.run({ files }, RUN_MAX_MS);
  const { durationsMs, failures } = outcome ?? { durationsMs: {}, failures: {} };
  const failed = Object.keys(failures).filter((file) => file in durationsMs);
  const again = failed.length === 0 ? undefined : await runner.run({ files: failed }, RUN_MAX_MS);
  const failing = new Set(Object.keys(again?.failures ?? {}));
  const used = Object.entries(durationsMs).filter(([file]) => !failing.has(file));
  for (const file of failing) console.log(`Not used, it fails without a mutant: ${file}`);
  const reach = readReach(root, readFileSync(noted, 'utf8'), mutants, Object.keys(durationsMs));
  return {
    reachOf: (mutant) => reach.get(mutant) ?? NOWHERE,
    durationsMs: Object.fromEntries(used),
    distances,
  };
};
