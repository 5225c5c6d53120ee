import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

/** Code of test domains on the pages. Tests of their own cover files that a page's readers write. */
const shown = readdirSync(new URL('../docs/', import.meta.url))
  .filter((name) => name.endsWith('.md'))
  .flatMap((page) =>
    [...read(`docs/${page}`).matchAll(/^```ts ((?:test|command)\/\S+)\n(.*?)^```$/gms)].map(
      ([, path = '', text = '']) => ({ page, path, text }),
    ),
  );

test.each(shown)('$page shows the code of $path', ({ path, text }) => {
  expect(read(path)).toContain(text);
});

test.each([
  'conditions',
  'evolve',
  'files',
  'inbox',
  'limits',
  'lists',
  'own-routes',
  'reactions',
  'reads',
  'schedules',
  'views',
])('the page of %s shows something', (name) => {
  expect(shown.map(({ page }) => page)).toContain(`${name}.md`);
});

test.each([
  ...['domain', 'grow-domain', 'files', 'lists', 'limits', 'reactions', 'views', 'evolve'],
  ...['conditions', 'reads', 'schedules'],
])('each block of code on the page of %s names the file by which a test follows it', (name) => {
  const unnamed = [...read(`docs/${name}.md`).matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text]) => text);
  expect(unnamed).toEqual([]);
});
