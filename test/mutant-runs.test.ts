import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { mutantsOf } from './mutants/mutants.ts';
import { farPlan, nearPlan } from './mutants/order.ts';
import { report, type Verdict } from './mutants/report.ts';
import { type NoOutcome, Runner } from './mutants/runner.ts';
import { isByTimeLimit } from './mutants/time-limit.ts';
import { tryMutant } from './mutants/try.ts';
import { runUnchanged } from './mutants/unchanged.ts';
import type { Order, Outcome } from './mutants/warm-vitest.ts';

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
