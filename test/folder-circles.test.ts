import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { findFolderCircles } from './folder-circles.ts';
import { readSources } from './published-sources.ts';

test('folders import each other in no circle', () => {
  expect(findFolderCircles(readSources())).toEqual([]);
});

const find = (files: Readonly<Record<string, string>>): string[] =>
  findFolderCircles(new Map(Object.entries(files)));

const TWO = {
  'query/a/x.ts': `import { y } from '../b/y.ts';`,
  'query/a/z.ts': '',
  'query/b/y.ts': `await import('../a/z.ts');`,
};
const THREE = { ...TWO, 'query/c/w.ts': `import '../a/x.ts';`, 'query/b/v.ts': `import '../c/w.ts';` };

test('two folders that import each other are found, though their files do not', () => {
  expect(find(TWO)).toEqual([
    'query/a, query/b: folders import each other in no circle. Move what the one needs of the other below both.',
  ]);
});

test('a circle through a third folder is found once', () => {
  expect(find(THREE)).toHaveLength(1);
  expect(find(THREE)[0]).toMatch(/^query\/a, query\/b, query\/c: /);
});

test.each([
  ['within a top folder count not', 'query/a', 'query/b', 0],
  ['between top folders count', 'query', 'auth', 1],
])('types %s', (_, one, other, circles) => {
  const found = find({
    [`${one}/x.ts`]: `import type { Y } from '../${posix.basename(other)}/y.ts';`,
    [`${other}/y.ts`]: `import type { X } from '../${posix.basename(one)}/x.ts';`,
  });
  expect(found).toHaveLength(circles);
});

test.each([
  [
    'the composition at the root',
    { 'main.ts': `import './query/x.ts';`, 'query/x.ts': `import '../main.ts';` },
  ],
  ['tests', { 'query/a/x.ts': `import '../b/y.ts';`, 'query/b/y.test.ts': `import '../a/x.ts';` }],
])('%s may import both ways', (_, files) => {
  expect(find(files as Readonly<Record<string, string>>)).toEqual([]);
});
