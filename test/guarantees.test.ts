import { existsSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { describe, expect, test } from 'vitest';
import config from '../vitest.config.ts';
import { importsOf, localTarget } from './imports.ts';
import { isVitest, TIERS } from './tiers/steps.ts';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const isThere = (file: string) => existsSync(new URL(`../${file}`, import.meta.url));
const page = read('docs/guarantees.md');

type Row = { readonly what: string; readonly tests: readonly Named[] };
type Named = { readonly file: string; readonly title: string };

const rows: readonly Row[] = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| What holds'))
  .map((line) => {
    const [what = '', , named = ''] = line.slice('| '.length).split(' | ');
    const tests = [...named.matchAll(/`([^`]+)` “([^”]+)”/g)];
    return { what, tests: tests.map(([, file = '', title = '']) => ({ file, title })) };
  });

type Project = {
  readonly test: { readonly name: string; readonly include: string[]; readonly exclude?: string[] };
};

const all = (config.test?.projects ?? []) as unknown as readonly Project[];
/** Those of the largest tier, which has every step. */
const projects = all.filter(({ test: { name } }) =>
  TIERS.all.some(({ run }) => isVitest(run) && run.projects.includes(name)),
);

const isRun = (file: string): boolean =>
  projects.some(
    ({ test: { include, exclude = [] } }) =>
      include.some((pattern) => matchesGlob(file, pattern)) &&
      !exclude.some((pattern) => matchesGlob(file, pattern)),
  );

/** Suites that several files run are in modules of the tests. */
const hasTitle = ({ file, title }: Named): boolean => {
  const seen = new Set([file]);
  for (const each of seen) {
    const text = read(each);
    if (text.includes(title)) return true;
    for (const { specifier } of importsOf(text)) {
      const target = localTarget(each, specifier);
      if (target !== undefined && /^test(?:ing)?\//.test(target) && isThere(target)) seen.add(target);
    }
  }
  return false;
};

test('the page has nothing but tables of guarantees', () => {
  expect(rows.length).toBeGreaterThan(30);
  const prose = page
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('|'));
  // The sentence that says what the tables are.
  expect(prose).toHaveLength(1);
});

describe.each(rows)('“$what”', ({ tests }) => {
  test('has tests that exist, and that a tier runs', () => {
    expect(tests.length).toBeGreaterThan(0);
    expect(tests.filter(({ file }) => !isThere(file))).toEqual([]);
    expect(tests.filter(({ file }) => !isRun(file))).toEqual([]);
    expect(tests.filter((named) => !hasTitle(named))).toEqual([]);
  });
});
