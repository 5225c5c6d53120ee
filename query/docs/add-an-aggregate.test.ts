import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const guide = read('docs/add-an-aggregate.md');

const blocks = [...guide.matchAll(/^```(\w+) ?(\S*)\n([\s\S]*?)^```$/gm)].map(([, language = '', file = '', text = '']) => ({
  language,
  file,
  text,
}));
const namedPaths = new Set(
  [...guide.matchAll(/`([\w-]+(?:\/[\w.-]+)+)`/g), ...guide.matchAll(/^```\w+ (\S+)$/gm)].map(([, path = '']) => path),
);

test('every path that the guide names is there', () => {
  expect(namedPaths.size).toBeGreaterThan(12);
  const paths = [...namedPaths].filter((path) => !path.startsWith('query/`'));
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('every piece of code in the guide stands in its file, in the same order', () => {
  const pieces = blocks.filter(({ language }) => language !== 'sh');
  expect(pieces.length).toBeGreaterThan(2);
  for (const { file, text } of pieces) {
    const source = read(file);
    let from = 0;
    for (const part of text.split(/^…\n/m)) {
      const place = source.indexOf(part.trimEnd(), from);
      expect(place, `${file} has no:\n${part}`).toBeGreaterThanOrEqual(0);
      from = place + 1;
    }
  }
});

test('the guide names every file that is told of comments by importing something of theirs', () => {
  const importers = globSync('{audit,command,command-line,domain,kernel,projector,query,shared,webhook-dispatcher}/**/*.ts', {
    cwd: ROOT,
    exclude: ['**/*.test.ts'],
  })
    .filter((path) => /from '[^']*\bcomments?(?:\.ts|\/)[^']*'/.test(read(path)))
    .filter((path) => !/\bcomments?(?:\.ts|\/)/.test(path));
  expect(importers.filter((path) => !namedPaths.has(path))).toEqual([]);
});

test('the guide names every file of comments themselves', () => {
  const files = globSync('{domain,query,shared}/**/{comment.ts,comments.ts,comment.graphql,comments/*.ts}', { cwd: ROOT });
  expect(files.filter((path) => !path.endsWith('.test.ts') && !namedPaths.has(path))).toEqual([]);
});

test('the tests that the guide runs are there', () => {
  const run = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => [...text.matchAll(/vitest run --project \w+ (.+)$/gm)].flatMap(([, parts = '']) => parts.split(' ')));
  const tests = globSync('{domain,query,shared,test}/**/*.test.ts', { cwd: ROOT });
  expect(run.length).toBeGreaterThan(3);
  for (const part of run)
    expect(
      tests.some((path) => path.includes(part)),
      part,
    ).toBe(true);
});
