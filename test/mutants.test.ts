import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from './checkout-copy.ts';
import { acceptedBy, mutantsOfIds } from './mutants/choose.ts';
import { type Mutant, mutantsOf, mutated } from './mutants/mutants.ts';
import { farPlan, nearPlan } from './mutants/order.ts';
import { instrumented } from './mutants/reach.ts';
import { report, type Verdict } from './mutants/report.ts';
import { type NoOutcome, Runner } from './mutants/runner.ts';
import { isByTimeLimit } from './mutants/time-limit.ts';
import { tryMutant } from './mutants/try.ts';
import { runUnchanged } from './mutants/unchanged.ts';
import type { Order, Outcome } from './mutants/warm-vitest.ts';

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

test('near tests that fail without a mutant are not used', () => {
  const distances = () => new Map(['auth/x.test.ts', 'auth/y.test.ts'].map((file) => [file, 1]));
  const plan = mutant && nearPlan(mutant, distances, (file) => file !== 'auth/x.test.ts');
  expect(plan?.stages).toEqual([['auth/y.test.ts']]);
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

/** Answers with these, one after the other. */
const answering = (...outcomes: (Partial<Outcome> | NoOutcome)[]) => ({
  run: async (): Promise<Outcome | NoOutcome> => {
    const next = outcomes.shift() ?? {};
    return 'without' in next ? next : { durationsMs: {}, failures: {}, late: [], ...next };
  },
});

test('a test that fails twice without a mutant is not used, and one that fails once is', async () => {
  const first = { durationsMs: { 'a.test.ts': 1, 'b.test.ts': 2, 'c.test.ts': 3 } };
  const runner = answering(
    { ...first, failures: { 'b.test.ts': 'b', 'c.test.ts': 'c' } },
    { durationsMs: { 'b.test.ts': 2, 'c.test.ts': 3 }, failures: { 'b.test.ts': 'b' } },
  );
  expect(await runUnchanged(runner, Object.keys(first.durationsMs))).toEqual({
    'a.test.ts': 1,
    'c.test.ts': 3,
  });
});

test('a run without a mutant that has no outcome ends everything', async () => {
  const runner = answering({ without: 'crash', why: 'out of memory' });
  await expect(runUnchanged(runner, ['a.test.ts'])).rejects.toThrow('out of memory');
});

const folderFor = (name: string, text: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'mutants-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), text);
  return folder;
};

test.each<[string, Partial<Outcome> | NoOutcome, Verdict['kind'], boolean]>([
  ['a failed test', { failures: { 'a.test.ts': 'a' } }, 'found', false],
  ['a failed test among late ones', { failures: { a: 'a', b: 'b' }, late: ['a'] }, 'found', false],
  ['late tests alone', { failures: { a: 'a' }, late: ['a'] }, 'found', true],
  ['no answer in time', { without: 'time limit', why: '' }, 'found', true],
  ['a crash', { without: 'crash', why: '' }, 'crash', false],
  ['tests that pass', {}, 'survived', false],
])('the verdict after %s', async (_, outcome, kind, byTimeLimit) => {
  const [one] = mutantsOf('x.ts', 'f(a)');
  const copy = { root: folderFor('x.ts', 'f(a)'), runner: answering(outcome) };
  const tried = one && (await tryMutant(copy, one, { stages: [['a.test.ts']], leftOut: 0 }, {}));
  expect(tried).toMatchObject({ verdict: { kind }, isByTimeLimit: byTimeLimit });
});

test('a run forgets the mutant of the last run, even if one without tests came between', async () => {
  const orders: Order[] = [];
  const run = async (order: Order): Promise<Outcome> => {
    orders.push(order);
    return { durationsMs: {}, failures: {}, late: [] };
  };
  const root = folderFor('x.ts', 'f(a)');
  const copy = { root, runner: { run } };
  for (const name of ['x.ts', 'y.ts', 'z.ts']) {
    writeFileSync(join(root, name), 'f(a)');
    const [one] = mutantsOf(name, 'f(a)');
    const stages = name === 'y.ts' ? [] : [['a.test.ts']];
    if (one) await tryMutant(copy, one, { stages, leftOut: 0 }, {});
  }
  expect(orders.map(({ changed }) => changed)).toEqual([
    ['x.ts', 'x.ts'],
    ['x.ts', 'z.ts'],
  ]);
});

test.each([
  [
    'that ends after its start',
    "process.on('message', () => process.exit(3)); process.send('ready');",
    'crash',
  ],
  ['that hangs', "process.on('message', () => {}); process.send('ready');", 'time limit'],
])('a process %s gives no outcome', async (_, program, without) => {
  const root = folderFor('program.mjs', program);
  await using runner = new Runner(root, RUNNER, join(root, 'program.mjs'));
  const limitMs = without === 'crash' ? 60_000 : 1;
  expect(await runner.run({ files: [] }, limitMs)).toMatchObject({ without });
});

const RUNNER = { projects: 'unit', maxWorkers: 1, bail: 1 } as const;

test('a process that cannot start says why', async () => {
  const root = folderFor('program.mjs', "throw new Error('no configuration')");
  await using runner = new Runner(root, RUNNER, join(root, 'program.mjs'));
  await expect(runner.run({ files: [] }, 60_000)).rejects.toThrow('no configuration');
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

test('a run that was stopped says so, and a crash is neither found nor survived', () => {
  const verdicts: Verdict[] = [
    { kind: 'found', by: 'a.test.ts' },
    { kind: 'survived' },
    { kind: 'crash', why: 'out of memory' },
  ];
  const results = verdicts.flatMap((verdict) =>
    mutant === undefined ? [] : [{ mutant, verdict, plan: { stages: [], leftOut: 0 } }],
  );
  const text = report(results, ['auth'], '3 of 9 mutants were tried');
  expect(text).toContain('Stopped: 3 of 9 mutants were tried');
  expect(text).toContain('| all | 3 | 1 | 1 | 1 | 50 % |');
  expect(text).toContain('out of memory');
});

test.each([
  ['Test timed out in 30000ms.', true],
  ['not within 15000 ms (15301 ms on this loaded machine); last seen: 1', true],
  ['expected 1 to be 2', false],
])('%s', (message, expected) => {
  expect(isByTimeLimit(message)).toBe(expected);
});
