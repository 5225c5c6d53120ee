import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

/**
 * What pages show of the domains that tests run on. Files that a page has its readers write are held to that
 * by tests of their own.
 */
const shown = readdirSync(new URL('../docs/', import.meta.url))
  .filter((name) => name.endsWith('.md'))
  .flatMap((page) =>
    [...read(`docs/${page}`).matchAll(/^```ts (test\/\S+)\n(.*?)^```$/gms)].map(
      ([, path = '', text = '']) => ({ page, path, text }),
    ),
  );

test.each(shown)('what $page shows of $path stands there', ({ path, text }) => {
  expect(read(path)).toContain(text);
});

test.each(['conditions', 'evolve', 'hatches', 'limits', 'reactions', 'views'])(
  'the page of %s shows something',
  (name) => {
    expect(shown.map(({ page }) => page)).toContain(`${name}.md`);
  },
);
