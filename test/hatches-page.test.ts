import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

const blocks = [...read('docs/hatches.md').matchAll(/^```ts (\S+)\n(.*?)^```$/gms)].map(
  ([, path = '', text = '']) => [path, text] as const,
);

test.each(blocks)('what the page shows of %s stands there', (path, text) => {
  expect(read(path)).toContain(text);
});

test('the page shows something', () => expect(blocks.length).toBe(4));
