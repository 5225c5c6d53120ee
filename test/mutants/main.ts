import { constants } from 'node:os';
import { copyCheckout } from '../checkout-copy.ts';
import { readMutantsArguments } from './arguments.ts';
import { areaOf, compiling, mutantsOfArea, mutantsOfIds } from './choose.ts';
import type { Mutant } from './mutants.ts';
import { observe } from './observe.ts';
import { type Distances, farPlan, measureDistances, nearPlan, type Plan } from './order.ts';
import { type Result, report, type Verdict } from './report.ts';
import { Runner } from './runner.ts';
import { type Copy, tryMutant } from './try.ts';
import { runUnchanged } from './unchanged.ts';

/** The compiler finds some mutants, so this many times more are candidates. */
const CANDIDATES = 1.5;

const { near, far, seed, perArea, projects, workers, areas, ids } = readMutantsArguments();

const results = new Map<Mutant, Result>();
/** For a run that is stopped. */
let stage = 'no test has run yet';

const startedMs = Date.now();
const minutes = (): number => Math.round((Date.now() - startedMs) / 60_000);

const choose = async (root: string): Promise<Mutant[]> => {
  const candidates =
    ids.size > 0
      ? mutantsOfIds(root, areas, ids)
      : areas.flatMap((area) => mutantsOfArea(root, area, seed).slice(0, Math.ceil(perArea * CANDIDATES)));
  const valid = await compiling(root, candidates);
  console.log(`${valid.length} of ${candidates.length} mutants compile (${minutes()} min).`);
  if (valid.length === 0) throw new Error('The compiler finds all of them, so no test needs to.');
  const chosen = areas.map((area) => valid.filter((each) => areaOf(each) === area).slice(0, perArea));
  // One of each area after the other, so that a run that is stopped has some of each.
  return chosen
    .flatMap((those) => [...those.entries()])
    .toSorted(([one], [other]) => one - other)
    .map(([, mutant]) => mutant);
};

type Stage = {
  readonly name: string;
  readonly planOf: (mutant: Mutant) => Plan;
  /** Of each test file without a mutant. */
  readonly durationsMs: Readonly<Record<string, number>>;
};

const runStage = async (
  copies: readonly Copy[],
  mutants: readonly Mutant[],
  { name, planOf, durationsMs }: Stage,
): Promise<void> => {
  let done = 0;
  const runOn = async (copy: Copy, mutant: Mutant): Promise<boolean> => {
    const plan = planOf(mutant);
    const { verdict, isByTimeLimit } = await tryMutant(copy, mutant, plan, durationsMs);
    results.set(mutant, { mutant, verdict, plan });
    const progress = `${done}/${mutants.length}, ${minutes()} min`;
    console.log(`[${progress}] ${mutant.id} ${mutant.file}:${mutant.line} ${said(verdict)}`);
    return isByTimeLimit;
  };
  const queue = [...mutants];
  const again: Mutant[] = [];
  const work = async (copy: Copy): Promise<void> => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const isByTimeLimit = await runOn(copy, mutant);
      if (isByTimeLimit) again.push(mutant);
      done += 1;
      stage = `${done} of ${mutants.length} mutants were tried with ${name}`;
    }
  };
  await Promise.all(copies.map(work));
  const [copy] = copies;
  if (copy === undefined || again.length === 0) return;
  console.log(`${again.length} were found only by a time limit. Each runs again by itself.`);
  for (const mutant of again) await runOn(copy, mutant);
};

const said = (verdict: Verdict): string => {
  if (verdict.kind === 'survived') return '**survived**';
  return verdict.kind === 'found' ? verdict.by : `no result: ${verdict.why}`;
};

const nearStage = async (root: string, mutants: readonly Mutant[], distances: Distances): Promise<Stage> => {
  const files = new Set(mutants.flatMap((mutant) => nearPlan(mutant, distances).stages.flat()));
  await using runner = new Runner(root, { projects, maxWorkers: 2 * workers, bail: 0 });
  const durationsMs = await runUnchanged(runner, [...files]);
  console.log(`${Object.keys(durationsMs).length} near test files pass without a mutant (${minutes()} min).`);
  const planOf = (mutant: Mutant): Plan => nearPlan(mutant, distances, (file) => file in durationsMs);
  return { name: 'the nearest tests', planOf, durationsMs };
};

const farStage = async (left: readonly Mutant[], distances: Distances): Promise<Stage> => {
  console.log(`${left.length} are left for the tests of other folders.`);
  const known = await observe(left, distances, { projects, maxWorkers: 2 * workers });
  console.log(`Which tests execute them is known (${minutes()} min).`);
  const planOf = (mutant: Mutant): Plan => farPlan(mutant, known.reachOf(mutant), known);
  return { name: 'the tests of other folders', planOf, durationsMs: known.durationsMs };
};

const main = async (): Promise<void> => {
  await using runners = new AsyncDisposableStack();
  const roots = Array.from({ length: workers }, copyCheckout);
  const [root = ''] = roots;
  const mutants = await choose(root);
  const distances = measureDistances(root);
  const copies = roots.map(
    (each): Copy => ({
      root: each,
      runner: runners.use(new Runner(each, { projects, maxWorkers: 1, bail: 1 })),
    }),
  );
  if (!far) await runStage(copies, mutants, await nearStage(root, mutants, distances));
  const left = mutants.filter((mutant) => results.get(mutant)?.verdict.kind !== 'found');
  if (!near && left.length > 0) await runStage(copies, left, await farStage(left, distances));
  console.log(report([...results.values()], areas));
};

// The copies and their processes end with this one.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    console.log(report([...results.values()], areas, `${stage} (${minutes()} min)`));
    process.exit(128 + constants.signals[signal]);
  });
await main();
