import { describe, expect, test } from 'vitest';
import { namedTestsIn, readPage, wrongTests } from './named-tests.ts';

const page = readPage('docs/guarantees.md');

const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| What holds'))
  .map((line) => {
    const [what = '', named = ''] = line.slice('| '.length).split(' | ');
    return { what, tests: namedTestsIn(named) };
  });

test('the page has nothing but tables of guarantees', () => {
  expect(rows.length).toBeGreaterThan(30);
  const prose = page
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('|'));
  // The sentence that says what the tables are.
  expect(prose).toHaveLength(1);
});

describe.each(rows)('“$what”', ({ tests }) => {
  test('has tests that exist, and that a tier runs', () => {
    expect(tests.length).toBeGreaterThan(0);
    expect(wrongTests(tests)).toEqual([]);
  });
});
