import { existsSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import config from '../vitest.config.ts';
import { importsOf, localTarget } from './imports.ts';
import { isVitest, TIERS } from './tiers/steps.ts';

/** A test that a page names, as `file` “a part of its title”. */
export type NamedTest = { readonly file: string; readonly title: string };

export const readPage = (file: string): string =>
  readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

const isThere = (file: string) => existsSync(new URL(`../${file}`, import.meta.url));

export const namedTestsIn = (text: string): readonly NamedTest[] =>
  [...text.matchAll(/`([^`]+)` “([^”]+)”/g)].map(([, file = '', title = '']) => ({ file, title }));

type Project = {
  readonly test: { readonly name: string; readonly include: string[]; readonly exclude?: string[] };
};

const all = (config.test?.projects ?? []) as unknown as readonly Project[];
/** The projects of the largest tier, which has every step. */
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
const hasTitle = ({ file, title }: NamedTest): boolean => {
  const seen = new Set([file]);
  for (const each of seen) {
    const text = readPage(each);
    if (text.includes(title)) return true;
    for (const { specifier } of importsOf(text)) {
      const target = localTarget(each, specifier);
      if (target !== undefined && /^test(?:ing)?\//.test(target) && isThere(target)) seen.add(target);
    }
  }
  return false;
};

/** The named tests that do not exist, or that no tier runs. */
export const wrongTests = (tests: readonly NamedTest[]): readonly NamedTest[] =>
  tests.filter((named) => !isThere(named.file) || !isRun(named.file) || !hasTitle(named));
