import { expect, test } from 'vitest';
import { ROOT } from './checkout-copy.ts';
import { acceptedBy, mutantsOfIds } from './mutants/choose.ts';
import { type Mutant, mutantsOf, mutated } from './mutants/mutants.ts';
import { instrumented } from './mutants/reach.ts';

const changesOf = (source: string): string[] =>
  mutantsOf('x.ts', source).map((each) => mutated(source, each));

test.each([
  ['a comparison and a call', 'f(a < b)', [';', 'f(a <= b)', 'f(a >= b)']],
  ['a condition', 'const x = a && b ? c : d', ['const x = !(a && b) ? c : d', 'const x = a || b ? c : d']],
  ['an early exit', 'if (a) throw new Error("why")', [';', 'if (!(a)) throw new Error("why")']],
  [
    'literals',
    "const x = [true, 1, 'a']",
    [
      "const x = [false, 1, 'a']",
      "const x = [true, 2, 'a']",
      "const x = [true, 0, 'a']",
      "const x = [true, 1, '']",
    ],
  ],
  ['a method', 'const x = a.filter(b).map(c)', ['const x = a.map(c)']],
  ['a fallback', 'const x = a ?? b', ['const x = (b)']],
  ['SQL', 'const x = sql`select a from t where b = 1`', ['const x = sql`select a from t where b <> 1`']],
  [
    'types, imports and logs',
    "import a from 'a.ts'; type X = 'b' | 1; const x = a as 'c'; log.info('d')",
    [],
  ],
  ['a part of an optional chain', 'const x = a?.filter(b).map(c)', []],
])('mutants of %s', (_, source, expected) => {
  expect(changesOf(source)).toEqual(expected);
});

test('a mutant keeps its id when lines move, and no two have the same', () => {
  const source = 'f(a < b);\nf(a < b);\n';
  const ids = mutantsOf('x.ts', source).map(({ id }) => id);
  expect(new Set(ids).size).toBe(6);
  expect(mutantsOf('x.ts', `const x = y;\n${source}`).map(({ id }) => id)).toEqual(ids);
});

test('every mutant’s place notes that it is executed, and the values stay the same', () => {
  const source = "const of = (a, b) => (a.filter((x) => x > 1).length > 1 && !b ? 'no' : 'yes');";
  const mutants = [...mutantsOf('x.ts', source).entries()];
  const reached = new Set<number>();
  const recorder = { reached: (mutant: number) => reached.add(mutant) };
  const of = new Function('globalThis', `${instrumented(source, mutants)} return of;`)(recorder);
  expect([of([1, 2], false), of([2, 3], false)]).toEqual(['yes', 'no']);
  expect(reached.size).toBe(mutants.length);
});

test('a template with a tag stays a template with a tag', () => {
  const hole = '$' + '{1}';
  const source = `const text = sql\`select a from t where b = ${hole} and c = 2\`;`;
  const mutants = [...mutantsOf('x.ts', source).entries()];
  const reached = new Set<number>();
  const recorder = { reached: (mutant: number) => reached.add(mutant) };
  const sql = (parts: TemplateStringsArray, ...given: readonly unknown[]) => [parts.raw, given];
  const run = new Function('globalThis', 'sql', `${instrumented(source, mutants)} return text;`);
  expect(run(recorder, sql)).toEqual([['select a from t where b = ', ' and c = 2'], [1]]);
  expect(reached.size).toBe(mutants.length);
});

test('an unknown id is refused', () => {
  expect(() => mutantsOfIds(ROOT, ['policy'], new Set(['00000000']))).toThrow('has the id 00000000');
});

test('a mutant that was blamed for the error of another is tried alone', async () => {
  const mutants = mutantsOf('x.ts', 'f(a);\ng(b);\n');
  const [innocent, wrong] = mutants;
  const refusals = async (planted: readonly Mutant[]) =>
    new Set(planted.some((each) => each === wrong) ? planted : []);
  expect(await acceptedBy(refusals, mutants)).toEqual(new Set([innocent]));
});
