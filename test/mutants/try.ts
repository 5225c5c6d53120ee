import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Mutant, mutated } from './mutants.ts';
import type { Plan } from './order.ts';
import type { Verdict } from './report.ts';
import type { NoOutcome, Runner } from './runner.ts';
import type { Outcome } from './warm-vitest.ts';

export type Copy = {
  readonly root: string;
  readonly runner: Pick<Runner, 'run'>;
  /** The file of the last run, whose mutant the next run must forget. */
  changed?: string;
};

type Tried = { readonly verdict: Verdict; readonly isByTimeLimit: boolean };

/** How long loading takes, and how much slower tests may be than without a mutant. */
const START_MS = 60_000;
const SLOWER = 5;

const SURVIVED: Tried = { verdict: { kind: 'survived' }, isByTimeLimit: false };

/** Runs the tests of a plan until one finds the mutant. */
export const tryMutant = async (
  copy: Copy,
  mutant: Mutant,
  { stages }: Plan,
  durationsMs: Readonly<Record<string, number>>,
): Promise<Tried> => {
  if (stages.length === 0) return SURVIVED;
  const path = join(copy.root, mutant.file);
  const source = readFileSync(path, 'utf8');
  const changed = [copy.changed ?? mutant.file, mutant.file];
  copy.changed = mutant.file;
  writeFileSync(path, mutated(source, mutant));
  try {
    for (const files of stages) {
      const expectedMs = files.reduce((sum, file) => sum + (durationsMs[file] ?? 0), 0);
      const outcome = await copy.runner.run({ files, changed }, START_MS + SLOWER * expectedMs);
      const tried = judged(outcome);
      if (tried !== undefined) return tried;
    }
    return SURVIVED;
  } finally {
    writeFileSync(path, source);
  }
};

const judged = (outcome: Outcome | NoOutcome): Tried | undefined => {
  if ('without' in outcome)
    return outcome.without === 'crash'
      ? { verdict: { kind: 'crash', why: outcome.why }, isByTimeLimit: false }
      : { verdict: { kind: 'found', by: 'the time limit' }, isByTimeLimit: true };
  const { failures, late } = outcome;
  const failed = Object.keys(failures);
  const inTime = failed.find((file) => !late.includes(file));
  const file = inTime ?? failed[0];
  if (file === undefined) return undefined;
  return {
    verdict: { kind: 'found', by: `${file} > ${failures[file]}` },
    isByTimeLimit: inTime === undefined,
  };
};
