import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Mutant } from './mutants.ts';

/** The test files that execute a mutant. */
export type Reach = {
  readonly files: ReadonlySet<string>;
  /** The mutant is executed when its module is loaded, so files that load it are missing. */
  readonly isLoaded: boolean;
};

/** Has every mutant's place note that it is executed. Mutants are named by their index. */
export const instrumented = (source: string, mutants: readonly (readonly [number, Mutant])[]): string => {
  const inserts = mutants.flatMap(([index, { whole }]) => {
    const { start, end, isStatement } = whole;
    const [before, after] = isStatement
      ? [`{ globalThis.reached?.(${index}); `, ' }']
      : [`(globalThis.reached?.(${index}), `, ')'];
    const length = end - start;
    // At one position, what ends comes first, then the outer of those that begin.
    return [
      { at: start, text: before, rank: [1, -length, index] },
      { at: end, text: after, rank: [0, length, -index] },
    ];
  });
  inserts.sort(
    (one, other) =>
      one.at - other.at || one.rank.map((each, nth) => each - (other.rank[nth] ?? 0)).find((by) => by) || 0,
  );
  let result = '';
  let from = 0;
  for (const { at, text } of inserts) {
    result += source.slice(from, at) + text;
    from = at;
  }
  return result + source.slice(from);
};

export const instrument = (root: string, mutants: readonly Mutant[]): void => {
  const byFile = Map.groupBy([...mutants.entries()], ([, { file }]) => file);
  for (const [file, those] of byFile) {
    const path = join(root, file);
    writeFileSync(path, instrumented(readFileSync(path, 'utf8'), those));
  }
};

/**
 * Reads the notes of recorder.ts. Test files that share an installation may all execute what one of them
 * does: its processes note it for the file that started them.
 */
export const readReach = (
  root: string,
  noted: string,
  mutants: readonly Mutant[],
  testFiles: readonly string[],
): Map<Mutant, Reach> => {
  const shared = new Map(
    testFiles.map((file) => [file, /\bshare[A-Z]\w+/.exec(readFileSync(join(root, file), 'utf8'))?.[0]]),
  );
  const withSharers = (file: string): readonly string[] =>
    shared.get(file) === undefined
      ? [file]
      : testFiles.filter((other) => shared.get(other) === shared.get(file));
  const lines = noted.split('\n').map((line) => line.split(' '));
  const byIndex = Map.groupBy(lines, ([, index]) => Number(index));
  return new Map(
    mutants.map((mutant, index) => {
      const those = byIndex.get(index) ?? [];
      const files = new Set(those.map(([, , path = '']) => relative(root, path)));
      const isLoaded = those.some(([when]) => when === 'loading');
      return [mutant, { files: new Set([...files].flatMap(withSharers)), isLoaded }];
    }),
  );
};
