import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Mutant, mutantsOf, mutated } from './mutants.ts';

/** Folders in which a defect would cost most. */
export const AREAS: Readonly<Record<string, readonly string[]>> = {
  command: ['command'],
  projector: ['projector'],
  policy: ['kernel/conditions', 'shared/visibility'],
  planner: ['query/graphql'],
  'webhook-dispatcher': ['webhook-dispatcher'],
  auth: ['auth'],
};

export const areaOf = ({ file }: Mutant): string =>
  Object.keys(AREAS).find((area) => AREAS[area]?.some((folder) => file.startsWith(`${folder}/`))) ?? '';

/** All mutants of an area, in an order that depends on the seed and on nothing else. */
export const mutantsOfArea = (root: string, area: string, seed: string): Mutant[] => {
  const rank = ({ id }: Mutant): string => createHash('sha256').update(`${seed} ${id}`).digest('hex');
  return globSync(
    (AREAS[area] ?? []).map((folder) => `${folder}/**/*.ts`),
    { cwd: root },
  )
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')))
    .map((mutant) => ({ mutant, rank: rank(mutant) }))
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
    .map(({ mutant }) => mutant);
};

/** The mutants of the ids in these areas, each of which must exist. */
export const mutantsOfIds = (
  root: string,
  areas: readonly string[],
  ids: ReadonlySet<string>,
): readonly Mutant[] => {
  const found = areas.flatMap((area) => mutantsOfArea(root, area, '')).filter(({ id }) => ids.has(id));
  const unknown = ids.difference(new Set(found.map(({ id }) => id)));
  if (unknown.size > 0)
    throw new Error(
      `No mutant in ${areas.join(', ')} has the id ${[...unknown].join(' or ')}. An id changes with its line.`,
    );
  return found;
};

/** Without those that the compiler finds. */
export const compiling = async (root: string, mutants: readonly Mutant[]): Promise<Mutant[]> => {
  writeFileSync(join(root, TSCONFIG), JSON.stringify(WITHOUT_TESTS));
  const refusals = (planted: readonly Mutant[]): Promise<Set<Mutant>> => refusedIn(root, planted);
  const accepted = await acceptedBy(refusals, mutants);
  return mutants.filter((mutant) => accepted.has(mutant));
};

type Refusals = (planted: readonly Mutant[]) => Promise<ReadonlySet<Mutant>>;

/** Many are planted at once; those that are blamed for the errors of others get tries of their own. */
export const acceptedBy = async (
  refusals: Refusals,
  mutants: readonly Mutant[],
): Promise<ReadonlySet<Mutant>> => {
  const accepted = new Set<Mutant>();
  const blamed = new Set<Mutant>();
  let rest = new Set(mutants);
  while (rest.size > 0) {
    const planted = new Set(apartFrom([...rest]));
    rest = rest.difference(planted);
    for (let round = 1; round <= ROUNDS_MAX; round += 1) {
      const refused = await refusals([...planted]);
      for (const mutant of refused) {
        planted.delete(mutant);
        blamed.add(mutant);
      }
      if (refused.size === 0) break;
    }
    for (const mutant of planted) accepted.add(mutant);
  }
  for (let round = 1; round <= ALONE_MAX && blamed.size > 0; round += 1) {
    const planted = [...Map.groupBy(blamed, ({ file }) => file).values()].flatMap(([first]) => first ?? []);
    const refused = await refusals(planted);
    for (const mutant of planted) {
      blamed.delete(mutant);
      if (!refused.has(mutant)) accepted.add(mutant);
    }
  }
  return accepted;
};

const TSCONFIG = 'tsconfig.mutants.json';
const WITHOUT_TESTS = {
  extends: './tsconfig.json',
  compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
  include: ['*/**/*.ts'],
  exclude: ['node_modules', 'bench', 'package', 'scripts', 'test', 'console/app', '**/*.test.ts'],
};
/** An error may belong to the mutant before the one that was blamed. */
const ROUNDS_MAX = 2;
/** This number of a file is tried alone; the others count as refused. */
const ALONE_MAX = 4;

/** As many as can be planted at once: no two on the same lines. */
const apartFrom = (mutants: readonly Mutant[]): Mutant[] => {
  const taken: Mutant[] = [];
  for (const mutant of mutants)
    if (
      taken.every(
        ({ file, whole: { start, end } }) =>
          file !== mutant.file || end < mutant.whole.start || start > mutant.whole.end,
      )
    )
      taken.push(mutant);
  return taken;
};

const refusedIn = async (root: string, planted: readonly Mutant[]): Promise<Set<Mutant>> => {
  const byFile = Map.groupBy(planted, ({ file }) => file);
  const sources = new Map([...byFile.keys()].map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  for (const [file, those] of byFile) {
    // From the end, so that the others stay where they are.
    const fromEnd = those.toSorted((one, other) => other.at.start - one.at.start);
    writeFileSync(join(root, file), fromEnd.reduce(keepLines, sources.get(file) ?? ''));
  }
  const printed = await new Promise<string>((resolve) =>
    execFile(
      'node_modules/.bin/tsc',
      ['-p', TSCONFIG, '--pretty', 'false'],
      { cwd: root, maxBuffer: 50_000_000 },
      (_, stdout) => resolve(stdout),
    ),
  );
  for (const [file, source] of sources) writeFileSync(join(root, file), source);
  const errors = [...printed.matchAll(/^([^\s(][^(]*)\((\d+),\d+\): error/gm)];
  return new Set(errors.flatMap(([, file = '', line]) => blamed(byFile.get(file) ?? [], Number(line))));
};

/** Its lines, as many as before. */
const keepLines = (source: string, mutant: Mutant): string => {
  const lines = (text: string): number => text.split('\n').length - 1;
  return mutated(source, { ...mutant, to: mutant.to + '\n'.repeat(lines(mutant.from) - lines(mutant.to)) });
};

/** The nearest one before the error, or all if none is before it. */
const blamed = (those: readonly Mutant[], line: number): readonly Mutant[] => {
  const before = those.filter((mutant) => mutant.line <= line);
  const nearest = Math.max(...before.map((mutant) => mutant.line));
  return before.length === 0 ? those : before.filter((mutant) => mutant.line === nearest);
};
