import { expect, test } from 'vitest';
import { partsOf } from './json.ts';

test('keys, strings, numbers and words are distinguished, and no text is lost', () => {
  const json = JSON.stringify(
    { title: 'A "quoted": 1, \\ null', count: -1.5e3, list: [true, null, ['x']], empty: {} },
    null,
    2,
  );
  const parts = partsOf(json);
  expect(parts.map(({ text }) => text).join('')).toBe(json);
  expect(parts.filter(({ kind }) => kind === 'name').map(({ text }) => text)).toEqual([
    '"title"',
    '"count"',
    '"list"',
    '"empty"',
  ]);
  expect(parts.filter(({ kind }) => kind === 'text')).toHaveLength(2);
  expect(parts.filter(({ kind }) => kind === 'number')).toEqual([{ text: '-1500', kind: 'number' }]);
  expect(parts.filter(({ kind }) => kind === 'word').map(({ text }) => text)).toEqual(['true', 'null']);
});
