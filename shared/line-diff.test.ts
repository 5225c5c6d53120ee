import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLines } from './line-diff.ts';

test('changed lines are shown with three lines around them', () => {
  const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
  const after = before.with(1, 'B').toSpliced(9, 0, 'x');
  expect(diffLines(before.join('\n'), after.join('\n'))).toEqual({
    text: [
      '@@ -1,5 +1,5 @@',
      ' a',
      '-b',
      '+B',
      ' c',
      ' d',
      ' e',
      '@@ -7,4 +7,5 @@',
      ' g',
      ' h',
      ' i',
      '+x',
      ' j',
    ].join('\n'),
    isTruncated: false,
  });
});

test('a new text is shown as added, and a deleted one as removed', () => {
  expect(diffLines('', 'a\nb').text).toBe('@@ -0,0 +1,2 @@\n+a\n+b');
  expect(diffLines('a\nb', '').text).toBe('@@ -1,2 +0,0 @@\n-a\n-b');
});

test('the same text has no difference', () => {
  expect(diffLines('a\nb', 'a\nb')).toEqual({ text: '', isTruncated: false });
});

/** Applies a difference as `patch` does. */
const patched = (text: string, diff: string): string => {
  const lines = text === '' ? [] : text.split('\n');
  const result: string[] = [];
  let at = 0;
  for (const line of diff === '' ? [] : diff.split('\n')) {
    const [, start, count] = /^@@ -(\d+),(\d+) /.exec(line) ?? [];
    if (start !== undefined) {
      const begin = count === '0' ? Number(start) : Number(start) - 1;
      result.push(...lines.slice(at, begin));
      at = begin;
    } else if (line.startsWith('+')) result.push(line.slice(1));
    else {
      expect(lines[at]).toBe(line.slice(1));
      if (line.startsWith(' ')) result.push(line.slice(1));
      at += 1;
    }
  }
  return [...result, ...lines.slice(at)].join('\n');
};

test('for any two texts, the difference turns one into the other', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', 'd', '@@ -1'), { maxLength: 40 })
    .map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(text, text, (from, to) => {
      expect(patched(from, diffLines(from, to).text)).toBe(to);
    }),
    { numRuns: 500 },
  );
});

test('texts without common lines are replaced, fast, and a long difference is cut to its beginning', () => {
  const [one, other] = ['x', 'y'].map((letter) =>
    Array.from({ length: 20_000 }, (_, n) => `${letter}${n}`).join('\n'),
  ) as [string, string];
  const { text, isTruncated } = diffLines(one, other);
  expect(isTruncated).toBe(true);
  expect(text.length).toBeLessThanOrEqual(10_000);
  expect(text).toMatch(/^@@ -1,20000 \+1,20000 @@\n-x0\n-x1\n/);
});
