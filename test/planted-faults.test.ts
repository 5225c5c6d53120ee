import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './checkout-copy.ts';
import { FAULTS } from './describe/planted/faults.ts';

test('each planted fault has exactly one place in its file', () => {
  const misplaced = FAULTS.filter(({ file, from }) => {
    const pieces = readFileSync(join(ROOT, file), 'utf8').split(from);
    return pieces.length !== 2;
  });
  expect(misplaced.map(({ name, file }) => `${name}: ${file}`)).toEqual([]);
});
