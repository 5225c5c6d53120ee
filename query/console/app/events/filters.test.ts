import { expect, test } from 'vitest';
import { pageWith, queryOf } from './filters.ts';

test('the interface is asked for what the address says, and for nothing else', () => {
  expect(queryOf(new URLSearchParams('types=article.published&subject=+article-1+&by=&state=x'))).toBe(
    'types=article.published&subject=article-1',
  );
  expect(queryOf(new URLSearchParams())).toBe('');
});

test('a number is a user, and a former address says the same', () => {
  expect(queryOf(new URLSearchParams('by=7001'))).toBe('actor=user%3A7001');
  expect(queryOf(new URLSearchParams('actor=user:7001'))).toBe('actor=user%3A7001');
  expect(queryOf(new URLSearchParams('by=system:process-manager'))).toBe('actor=system%3Aprocess-manager');
});

test('a time without a zone is one of this browser', () => {
  expect(queryOf(new URLSearchParams('since=2026-11-21T15:04'))).toBe(
    `since=${encodeURIComponent(new Date('2026-11-21T15:04').toISOString())}`,
  );
  expect(queryOf(new URLSearchParams('until=2026-11-21T15:04:05Z'))).toBe('until=2026-11-21T15%3A04%3A05Z');
});

test('another filter begins at the newest, and keeps the others', () => {
  const search = new URLSearchParams('types=article.*&actor=user:7001&before=a-1');
  expect(pageWith(search, 'actor', ' 7002 ')).toBe('/console/events?types=article.*&by=7002');
  expect(pageWith(new URLSearchParams('by=7'), 'actor', '')).toBe('/console/events');
});
