import { expect, test } from 'vitest';
import { SEED } from '../../testing/seed.ts';
import { isExcused } from './excused-words.ts';
import { reword } from './reword.ts';
import { SHIPPED } from './shipped-source.ts';

/** Each costs a tenth of a second; all are tried in `test:all`. */
const ONE_OF = 25;

test.each(Object.keys(SHIPPED))('a word of %s that is changed is refused or shows on a surface', (name) => {
  const { ignored } = reword(name, (index) => index % ONE_OF === SEED % ONE_OF);
  expect(ignored.filter((word) => !isExcused(word))).toEqual([]);
});
