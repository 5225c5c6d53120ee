import { expect, test } from 'vitest';
import { isExcused } from './excused-words.ts';
import { reword } from './reword.ts';
import { SHIPPED } from './shipped-source.ts';

test.each(Object.keys(SHIPPED))(
  'every word of %s that is changed is refused or shows on a surface',
  (name) => {
    const { ignored } = reword(name, () => true);
    expect(ignored.filter((word) => !isExcused(word))).toEqual([]);
  },
);
