import { readFileSync } from 'node:fs';
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
  const text = ['README.md', 'docs/architecture.md'].map(read).join('\n');
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
