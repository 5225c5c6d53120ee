import { expect, test } from 'vitest';
import { pageWith, queryOf } from './filters.ts';

test('the request has the filters of the address, and nothing else', () => {
  expect(queryOf(new URLSearchParams('types=article.published&subject=+article-1+&by=&state=x'))).toBe(
    'types=article.published&subject=article-1',
  );
  expect(queryOf(new URLSearchParams())).toBe('');
});

test('a number is a user id, and former addresses still work', () => {
  expect(queryOf(new URLSearchParams('by=7001'))).toBe('actor=user%3A7001');
  expect(queryOf(new URLSearchParams('actor=user:7001'))).toBe('actor=user%3A7001');
  expect(queryOf(new URLSearchParams('by=system:process-manager'))).toBe('actor=system%3Aprocess-manager');
});

test('a time without a zone is local', () => {
  expect(queryOf(new URLSearchParams('since=2026-11-21T15:04'))).toBe(
    `since=${encodeURIComponent(new Date('2026-11-21T15:04').toISOString())}`,
  );
  expect(queryOf(new URLSearchParams('until=2026-11-21T15:04:05Z'))).toBe('until=2026-11-21T15%3A04%3A05Z');
});

test('a changed filter starts at the newest event, and keeps the other filters', () => {
  const search = new URLSearchParams('types=article.*&actor=user:7001&before=a-1');
  expect(pageWith(search, 'actor', ' 7002 ')).toBe('/console/events?types=article.*&by=7002');
  expect(pageWith(new URLSearchParams('by=7'), 'actor', '')).toBe('/console/events');
});
