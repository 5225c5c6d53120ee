import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyCheckout } from '../checkout-copy.ts';
import { AREAS, areaOf, compiling, mutantsOfArea } from './choose.ts';
import { type Mutant, mutated } from './mutants.ts';
import { observe } from './observe.ts';
import { farPlan, measureDistances, nearPlan, type Plan } from './order.ts';
import { Runner } from './runner.ts';
import type { Outcome } from './warm-vitest.ts';

/**
 * Makes a seeded sample of mutants, and runs the tests that can find each: `npm run test:mutants`. Arguments
 * name areas, or mutants by their ids; `--projects` chooses projects of vitest, and `--near` leaves out the
 * tests of other folders. Prints a table, and all survivors.
 */
const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    'per-area': { type: 'string', default: '40' },
    projects: { type: 'string', default: 'unit,contracts' },
    workers: { type: 'string', default: '2' },
    near: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const { projects } = values;
const perArea = Number(values['per-area']);
/** So many times more of them, because the compiler finds some. */
const CANDIDATES = 1.3;

const ids = new Set(positionals.filter((word) => AREAS[word] === undefined));
const named = Object.keys(AREAS).filter((area) => positionals.includes(area));
const areas = named.length > 0 ? named : Object.keys(AREAS);
for (const id of ids)
  if (!/^[0-9a-f]{8}$/.test(id))
    throw new Error(`${id} is no mutant, and no area. The areas are ${Object.keys(AREAS).join(', ')}.`);

type Result = { readonly mutant: Mutant; readonly by: string | undefined; readonly plan: Plan };
const results = new Map<Mutant, Result>();

const startedMs = Date.now();
const minutes = (): number => Math.round((Date.now() - startedMs) / 60_000);

const choose = async (root: string): Promise<Mutant[]> => {
  const candidates = areas.flatMap((area) => {
    const all = mutantsOfArea(root, area, values.seed);
    return ids.size > 0 ? all.filter(({ id }) => ids.has(id)) : all.slice(0, Math.ceil(perArea * CANDIDATES));
  });
  const valid = await compiling(root, candidates);
  console.log(`${valid.length} of ${candidates.length} mutants compile (${minutes()} min).`);
  const chosen = areas.map((area) => valid.filter((each) => areaOf(each) === area).slice(0, perArea));
  // One of each area after the other, so that a run that is stopped has some of each.
  return chosen
    .flatMap((those) => [...those.entries()])
    .toSorted(([one], [other]) => one - other)
    .map(([, mutant]) => mutant);
};

/** How long loading takes, and how much slower tests may be than without a mutant. */
const START_MS = 60_000;
const SLOWER = 5;
const UNKNOWN_MS = 5_000;

type Copy = { readonly root: string; readonly runner: Runner; changed?: string };

/** The test that finds it. */
const runOn = async (
  copy: Copy,
  mutant: Mutant,
  { stages }: Plan,
  durationsMs: Readonly<Record<string, number>>,
): Promise<string | undefined> => {
  const path = join(copy.root, mutant.file);
  const source = readFileSync(path, 'utf8');
  const changed = [copy.changed ?? mutant.file, mutant.file];
  copy.changed = mutant.file;
  writeFileSync(path, mutated(source, mutant));
  try {
    for (const files of stages) {
      const expectedMs = files.reduce((sum, file) => sum + (durationsMs[file] ?? UNKNOWN_MS), 0);
      const outcome = await copy.runner.run({ files, changed }, START_MS + SLOWER * expectedMs);
      const by = outcome === undefined ? 'the time limit' : firstFailure(outcome);
      if (by !== undefined) return by;
    }
    return undefined;
  } finally {
    writeFileSync(path, source);
  }
};

const firstFailure = ({ failures }: Outcome): string | undefined => {
  const [file, test] = Object.entries(failures)[0] ?? [];
  return file === undefined ? undefined : `${file} > ${test}`;
};

const runAll = async (
  copies: readonly Copy[],
  mutants: readonly Mutant[],
  planOf: (mutant: Mutant) => Plan,
  durationsMs: Readonly<Record<string, number>> = {},
): Promise<void> => {
  const queue = [...mutants];
  let done = 0;
  const work = async (copy: Copy): Promise<void> => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const plan = planOf(mutant);
      const by = await runOn(copy, mutant, plan, durationsMs);
      results.set(mutant, { mutant, by, plan });
      done += 1;
      const progress = `${done}/${mutants.length}, ${minutes()} min`;
      console.log(`[${progress}] ${mutant.id} ${mutant.file}:${mutant.line} ${by ?? '**survived**'}`);
    }
  };
  await Promise.all(copies.map(work));
};

const main = async (): Promise<void> => {
  await using runners = new AsyncDisposableStack();
  const copies = Array.from({ length: Number(values.workers) }, (): Copy => {
    const root = copyCheckout();
    return { root, runner: runners.use(new Runner(root, { projects, maxWorkers: 1, bail: 1 })) };
  });
  const [{ root } = { root: '' }] = copies;
  const mutants = await choose(root);
  const distances = measureDistances(root);
  await runAll(copies, mutants, (mutant) => nearPlan(mutant, distances));
  const left = mutants.filter((mutant) => results.get(mutant)?.by === undefined);
  if (!values.near && left.length > 0) {
    console.log(`${left.length} are left for the tests of other folders.`);
    const known = await observe(left, distances, { projects, maxWorkers: 2 * copies.length });
    console.log(`Which tests execute them is known (${minutes()} min).`);
    await runAll(copies, left, (mutant) => farPlan(mutant, known.reachOf(mutant), known), known.durationsMs);
  }
  report();
};

const short = (text: string): string => {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 90 ? `${line.slice(0, 90)}…` : line;
};

const report = (): void => {
  const all = [...results.values()];
  const row = (name: string, those: readonly Result[]): string => {
    const survived = those.filter(({ by }) => by === undefined).length;
    const rate = Math.round((100 * (those.length - survived)) / those.length);
    return `| ${name} | ${those.length} | ${those.length - survived} | ${survived} | ${rate} % |`;
  };
  const rows = areas.map((area) => [area, all.filter(({ mutant }) => areaOf(mutant) === area)] as const);
  console.log('\n| Area | Mutants | Found | Survived | Rate |\n|---|---|---|---|---|');
  for (const [name, those] of [...rows, ['all', all] as const])
    if (those.length > 0) console.log(row(name, those));
  console.log('\nSurvivors:');
  for (const { mutant, by, plan } of all) {
    if (by !== undefined) continue;
    const ran = `${plan.stages.flat().length} test files ran`;
    console.log(`${mutant.file}:${mutant.line}  ${short(mutant.from)} → ${short(mutant.to)}`);
    console.log(`  ${mutant.id}, ${ran}${plan.leftOut > 0 ? `, ${plan.leftOut} did not` : ''}`);
  }
};

// The copies and their processes end with this one.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    report();
    process.exit(1);
  });
await main();
