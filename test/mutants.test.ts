import { expect, test } from 'vitest';
import { mutantsOf, mutated } from './mutants/mutants.ts';
import { farPlan, nearPlan } from './mutants/order.ts';
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

const [mutant] = mutantsOf('auth/x.ts', 'f(a)');

test('the tests of the folder and those that import the file run first, without a database before others', () => {
  const distances = new Map([
    ['auth/x.database.test.ts', 1],
    ['auth/y.test.ts', 2],
    ['auth/x.test.ts', 1],
    ['auth/x.long.test.ts', 1],
    ['query/x.test.ts', 2],
    ['query/y.test.ts', 1],
  ]);
  expect(mutant && nearPlan(mutant, () => distances)).toEqual({
    stages: [['auth/x.test.ts', 'auth/y.test.ts', 'query/y.test.ts'], ['auth/x.database.test.ts']],
    leftOut: 0,
  });
});

test('the quick ones of those that execute a mutant run first, and those beyond the budget do not', () => {
  const durationsMs = { 'auth/x.test.ts': 1_000, 'test/x.test.ts': 500, 'y.test.ts': 95_000, 'z.test.ts': 1 };
  const known = { durationsMs, distances: () => new Map([['z.test.ts', 1]]) };
  const files = new Set(['y.test.ts', 'auth/x.test.ts', 'test/x.test.ts', 'gone.test.ts']);
  expect(mutant && farPlan(mutant, { files, isLoaded: false }, known)).toEqual({
    stages: [['test/x.test.ts', 'auth/x.test.ts']],
    leftOut: 1,
  });
  expect(mutant && farPlan(mutant, { files: new Set(), isLoaded: true }, known).stages).toEqual([
    ['z.test.ts'],
  ]);
});
