import { globSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

test('every dependency has its reason in docs/dependencies.md', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<
    'dependencies' | 'devDependencies',
    object
  >;
  const reasons = read('docs/dependencies.md');
  const missing = Object.keys({ ...dependencies, ...devDependencies }).filter(
    (name) => !name.startsWith('@types/') && !reasons.includes(`\`${name}\``),
  );
  expect(missing).toEqual([]);
});

test('every file that README and docs name exists', () => {
  const text = ['README.md', 'docs/architecture.md', 'docs/mechanisms.md'].map(read).join('\n');
  const named = [...text.matchAll(/`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|md|json|yml|conf))`/g)].map(
    ([, path]) => path ?? '',
  );
  const missing = named.filter((path) => path.includes('/') && !path.includes('reaction') && !exists(path));
  expect(missing).toEqual([]);
});

const exists = (path: string): boolean => {
  try {
    return read(path).length >= 0;
  } catch {
    return false;
  }
};

/** The pages for users. */
const PAGES = [
  'README.md',
  'package/README.md',
  ...readdirSync(new URL('../docs/', import.meta.url))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** The oldest Node: a clone installs the Node that runs it, and a project runs on that of its machine. */
const OF_CLONE = '20';
const OF_PROJECT = '22.18';

test('the oldest Node of a clone and of a project is the same number wherever one is demanded', () => {
  const [major, minor] = OF_PROJECT.split('.');
  expect(read('package.json')).toContain(`"node": ">=${OF_CLONE}"`);
  expect(read('scripts/ensure-installed.mjs')).toContain(`const NODE_MAJOR_MIN = ${OF_CLONE};`);
  expect(
    [...read('scripts/package/manifest.ts').matchAll(/node: '>=(.+)'/g)].map(([, node]) => node),
  ).toEqual([OF_PROJECT, OF_PROJECT]);
  expect(read('create/create.ts')).toContain(`NODE_MIN = [${major}, ${minor}]`);
  expect(read('create/template/demand-node.mjs')).toContain(
    `major < ${major} || (major === ${major} && minor < ${minor})`,
  );
  expect(read('create/template/demand-node.mjs')).toContain(`Node ${OF_PROJECT} or newer is needed`);
});

test('each page that names the oldest Node says of what, and the README says both', () => {
  const demanded = PAGES.flatMap((page) =>
    [...read(page).matchAll(/Node ([\d.]+) or newer(?: for a project)?/g)].map(([text, node]) => ({
      page,
      text,
      node,
    })),
  );
  const isOfProject = ({ page, text }: { readonly page: string; readonly text: string }): boolean =>
    text.endsWith('for a project') || page === 'docs/project.md' || page === 'package/README.md';
  for (const each of demanded)
    expect(each).toMatchObject({ node: isOfProject(each) ? OF_PROJECT : OF_CLONE });
  expect(demanded.filter(({ page }) => page === 'README.md').map(({ node }) => node)).toEqual([
    OF_PROJECT,
    OF_CLONE,
  ]);
});

test('all texts call the packages as they are published', () => {
  const { name } = JSON.parse(read('package.json')) as { readonly name: string };
  const root = new URL('../', import.meta.url).pathname;
  const sources = globSync('{command-line,create,develop,package,proof}/**/*.ts', { cwd: root });
  const others = [...PAGES, ...sources].flatMap((path) =>
    [...read(path).matchAll(/\b(?:npx|npm create|npm init) (@?[\w/.-]*annals[\w/.-]*)/g)]
      .map(([, called = '']) => called.replace(/\.$/, ''))
      .filter((called) => called !== name)
      .map((called) => `${path}: ${called}`),
  );
  expect(others).toEqual([]);
});

test('no page installs from the registry what is not published, and each tarball has the version of now', () => {
  const { version } = JSON.parse(read('package.json')) as { readonly version: string };
  for (const page of PAGES) {
    const blocks = [...read(page).matchAll(/^```sh.*?^```/gms)].map(([block]) => block).join('\n');
    expect({ page, found: blocks.match(/npm (?:install|i|create) (?:create-)?annals\b.*/g) }).toEqual({
      page,
      found: null,
    });
    for (const [tarball] of read(page).matchAll(/annals-\d+\.\d+\.\d+[\w.-]*\.tgz/g))
      expect({ page, tarball }).toEqual({ page, tarball: `annals-${version}.tgz` });
  }
});
