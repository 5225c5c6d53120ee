import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Mutant } from './mutants.ts';
import type { Reach } from './reach.ts';

/** How many imports lead from each file that reaches a file to it. */
export type Distances = (file: string) => ReadonlyMap<string, number>;

const IMPORTED = /(?:\bfrom|\bimport)\s*\(?\s*'((?:\.{1,2}|#\w+)\/[^']+\.ts)'/g;

export const measureDistances = (root: string): Distances => {
  const importers = new Map<string, string[]>();
  for (const file of globSync('**/*.ts', { cwd: root, exclude: ['node_modules'] }))
    for (const [, specifier = ''] of readFileSync(join(root, file), 'utf8').matchAll(IMPORTED)) {
      const imported = specifier.startsWith('#') ? specifier.slice(1) : join(dirname(file), specifier);
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  return (file) => {
    const found = new Map([[file, 0]]);
    // Grows while it is read.
    for (const [at, distance] of found)
      for (const importer of importers.get(at) ?? [])
        if (!found.has(importer)) found.set(importer, distance + 1);
    return found;
  };
};

/** The test files for a mutant. Each stage runs if those before have not found it. */
export type Plan = { readonly stages: readonly (readonly string[])[]; readonly leftOut: number };

const NEAR_MAX = 8;
const FIRST_STAGE_FILES_MAX = 3;

/** More than any distance of another test. */
const DATABASE = 10;

/** The tests of the folder, and those that import its file; those that need no database first. */
export const nearPlan = (
  { file }: Mutant,
  distances: Distances,
  isUsed: (test: string) => boolean = () => true,
): Plan => {
  const rank = (each: string, distance: number): number =>
    distance +
    (each.startsWith(`${file.slice(0, -'ts'.length)}`) ? -2 : 0) +
    (dirname(each) === dirname(file) ? -2 : 0) +
    (each.includes('.database.') ? DATABASE : 0);
  const near = [...distances(file)]
    .filter(([each, distance]) => isTest(each) && (distance === 1 || dirname(each) === dirname(file)))
    .map(([each, distance]) => ({ each, rank: rank(each, distance) }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ each }) => each);
  const taken = near.slice(0, NEAR_MAX).filter(isUsed);
  return staged(taken.slice(0, FIRST_STAGE_FILES_MAX), taken.slice(FIRST_STAGE_FILES_MAX));
};

const isTest = (file: string): boolean => /^(?!.*\.(?:engine|long|replicas)\.).*\.test\.ts$/.test(file);

const staged = (first: readonly string[], second: readonly string[], leftOut = 0): Plan => ({
  stages: [first, second].filter((stage) => stage.length > 0),
  leftOut,
});

/** The longest time for one mutant, by what its tests took without it. */
const BUDGET_MS = 90_000;
const FIRST_STAGE_MS = 6_000;
/** A file that is one import farther comes as late as one that takes so much longer. */
const IMPORT_MS = 1_500;

type Known = { readonly durationsMs: Readonly<Record<string, number>>; readonly distances: Distances };

/**
 * The tests that execute a mutant, and for one that is executed when its module is loaded, those that import it.
 * The quick and the near ones come first.
 */
export const farPlan = (
  mutant: Mutant,
  { files, isLoaded }: Reach,
  { durationsMs, distances }: Known,
): Plan => {
  const distance = distances(mutant.file);
  const rank = (file: string): number => (durationsMs[file] ?? 0) + IMPORT_MS * (distance.get(file) ?? 0);
  const importing = isLoaded ? [...distance.keys()] : [];
  const candidates = [...files.union(new Set(importing))]
    .filter((file) => durationsMs[file] !== undefined)
    .toSorted((one, other) => rank(one) - rank(other) || one.localeCompare(other));
  const ends = candidates.map((_, nth) =>
    candidates.slice(0, nth + 1).reduce((sum, file) => sum + (durationsMs[file] ?? 0), 0),
  );
  const within = (ms: number): number => ends.filter((end) => end <= ms).length;
  return staged(
    candidates.slice(0, within(FIRST_STAGE_MS)),
    candidates.slice(within(FIRST_STAGE_MS), within(BUDGET_MS)),
    candidates.length - within(BUDGET_MS),
  );
};
