import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import config from '../vitest.config.ts';
import { ROOT } from './checkout-copy.ts';
import { QUARANTINE } from './tiers/quarantine.ts';
import type { StepResult } from './tiers/run-step.ts';
import { isVitest, TIERS, type Tier } from './tiers/steps.ts';
import { summaryOf, tierResultOf } from './tiers/summary.ts';

type Project = {
  readonly test: {
    readonly name: string;
    readonly include: readonly string[];
    readonly exclude?: readonly string[];
  };
};
const PROJECTS = config.test?.projects as readonly Project[];
const NEVER = ['**/node_modules/**', 'dist/**', 'bench/**'];

const filesOf = (include: readonly string[], exclude: readonly string[] = []): readonly string[] =>
  globSync([...include], { cwd: ROOT, exclude: [...NEVER, ...exclude] });

const projectsOf = (tier: Tier): ReadonlySet<string> =>
  new Set(TIERS[tier].flatMap(({ run }) => (isVitest(run) ? run.projects : [])));

test('every test file is in a step of test:all', () => {
  const projects = projectsOf('all');
  const run = PROJECTS.filter((project) => projects.has(project.test.name)).flatMap((project) =>
    filesOf(project.test.include, project.test.exclude),
  );
  const all = filesOf(['**/*.test.ts'], ['create/template/**']);
  expect(all.length).toBeGreaterThan(500);
  expect(all.filter((file) => !run.includes(file))).toEqual([]);
  const shortened = TIERS.all.filter((step) => isVitest(step.run) && step.run.without !== undefined);
  expect(shortened.map(({ name }) => name)).toEqual([]);
});

test('the gate leaves files out of steps that leave none of them out in test:all', () => {
  for (const { name, run } of TIERS.gate) {
    if (!isVitest(run) || run.without === undefined) continue;
    const whole = TIERS.all.find((step) => step.name === name);
    expect(whole && isVitest(whole.run) && whole.run.projects, name).toEqual(run.projects);
    for (const pattern of run.without) expect(filesOf([pattern]), `${name}: ${pattern}`).not.toEqual([]);
  }
});

test('every project is in test:all, and every step of the gate has projects that exist', () => {
  const names = PROJECTS.map((project) => project.test.name);
  expect([...projectsOf('all')].toSorted()).toEqual(names.toSorted());
  expect([...projectsOf('gate')].filter((name) => !names.includes(name))).toEqual([]);
});

test('the gate has what every submission must pass', () => {
  const gated = (folder: string) => globSync(`${folder}/**/*.gate.test.ts`, { cwd: ROOT }).length;
  expect(gated('test/chaos')).toBeGreaterThanOrEqual(3);
  expect(gated('test/pages')).toBeGreaterThanOrEqual(6);
  expect(gated('test/describe')).toBeGreaterThanOrEqual(2);
  expect(gated('test/contract')).toBeGreaterThanOrEqual(1);
  expect(globSync('test/e2e/*.journey*.test.ts', { cwd: ROOT }).length).toBeGreaterThanOrEqual(10);
  const steps = TIERS.gate.map(({ name }) => name);
  for (const name of ['check', 'test', 'oldest-postgres', 'poolers-transaction', 'conformance'])
    expect(steps).toContain(name);
});

test('what is random in tests follows from TEST_SEED', () => {
  const drawing = globSync(['**/*.test.ts', 'test/{chaos,engines,toy}/**/*.ts'], {
    cwd: ROOT,
    exclude: NEVER,
  })
    .filter((path) => /Math\.random\b/.test(readFileSync(join(ROOT, path), 'utf8')))
    .filter((path) => path !== 'test/tiers.test.ts' && path !== 'test/chaos/mixed/arguments.ts');
  expect(drawing).toEqual([]);
});

test('the quarantine is short, and each entry has a file and a reason', () => {
  const entries = Object.entries(QUARANTINE);
  expect(entries.length).toBeLessThanOrEqual(5);
  for (const [file, reason] of entries) {
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    expect(reason).toMatch(/^[A-Z].{20,}\.$/);
  }
});

const file = (name: string, seconds: number, failed = 0) => ({
  project: 'unit',
  file: name,
  seconds,
  passed: 3,
  failed,
  skipped: 0,
  slowTests: {},
  isFailed: failed > 0,
});
const step = (result: Partial<StepResult>): StepResult => ({
  name: 'test',
  outcome: 'passed',
  seconds: 60,
  files: [],
  secondRuns: [],
  ...result,
});
const secondRun = { project: 'unit', file: 'b.test.ts', seed: 7, load: 4.25, isPassed: true };
const ABOUT = { tier: 'all', startedAt: '2026-11-28T00:00:00.000Z', cores: 2 };

test('a file that passed alone is named, and its tests count as passed', () => {
  const files = [file('a.test.ts', 20), file('b.test.ts', 40, 2)];
  const result = tierResultOf(ABOUT, [step({ files, secondRuns: [secondRun], starts: { installation: 2 } })]);
  expect(result).toMatchObject({ minutes: 1, minutesOfProjects: { unit: 1 }, starts: { installation: 2 } });
  const summary = summaryOf(result);
  expect(summary).toContain('Failed once, and passed alone: b.test.ts (test, TEST_SEED=7, load 4.3)');
  expect(summary).toMatch(/ 40\.0 s {2}b\.test\.ts\n +20\.0 s {2}a\.test\.ts\n/);
  expect(summary).toMatch(/\nAll green\.\n8 passed, 0 failed, 0 skipped$/);
});

test('a skipped step is no success', () => {
  const steps = [step({}), step({ name: 'journeys', outcome: 'skipped', why: 'there is no Redis' })];
  expect(summaryOf(tierResultOf(ABOUT, steps))).toContain('\nGreen, but not run: journeys.\n');
});

test('a resumed run says which steps ran at which commit', () => {
  const steps = [step({ commit: 'aaa' }), step({ name: 'chaos', commit: 'bbb-dirty' })];
  expect(summaryOf(tierResultOf(ABOUT, steps))).toContain('\nRan at aaa: test\nRan at bbb-dirty: chaos\n');
});

test('a failed step is named with its reason, and so is what was skipped', () => {
  const steps = [
    step({
      files: [file('b.test.ts', 40, 2)],
      outcome: 'failed',
      secondRuns: [{ ...secondRun, isPassed: false }],
    }),
    step({ name: 'check', outcome: 'failed', why: 'npm run check ended with 1' }),
    step({ name: 'chaos', outcome: 'skipped', why: 'there is no Redis' }),
  ];
  const summary = summaryOf(tierResultOf(ABOUT, steps));
  expect(summary).toMatch(/\ncheck +1\.0 +0 +0 +0 +0 {2}failed: npm run check ended with 1\n/);
  expect(summary).toMatch(/\nchaos .* skipped: there is no Redis\n/);
  expect(summary).toMatch(/\nFailed: test, check\.\n3 passed, 2 failed, 0 skipped$/);
});
