import { expect, test } from 'vitest';
import { queryOf } from './filters.ts';

test('the stream is asked for what the address says, and for nothing else', () => {
  expect(queryOf(new URLSearchParams('types=article.published&subject=+article-1+&actor=&state=x'))).toBe(
    '?types=article.published&subject=article-1',
  );
  expect(queryOf(new URLSearchParams())).toBe('');
});
