import { expect, test } from 'vitest';
import { domain } from '#kernel/declare/domain.ts';
import { line } from '#kernel/declare/fields.ts';
import { assemble } from '#kernel/registry/registry.ts';
import type { StreamName } from '#shared/brands.ts';
import { idsIn } from '#shared/visibility/visible-data.ts';
import { visibilityOf } from './visibility.ts';

/** Users with a field of the domain that fewer may read, whose name ends as ids do. */
const club = assemble(
  domain({
    name: 'club',
    roles: ['member'],
    user: { fields: { badgeId: line(20).optional() }, fieldRights: { readBadge: { reads: ['badgeId'], signedIn: 'caller' } } },
  }),
  [],
);

test('a change of fields under two guards is not for those who may read neither', () => {
  const { rightTo } = visibilityOf(club).types.get('user.updated') ?? {};
  expect(rightTo?.({ userId: 1, email: 'ada@example.com' })).toBe('user.read_private');
  expect(rightTo?.({ userId: 1, badgeId: 'B 1' })).toBe('user.read_badge');
  expect(rightTo?.({ userId: 1, email: 'ada@example.com', badgeId: 'B 1' })).toBe('user.read_private');
  expect(rightTo?.({ userId: 1, name: 'Ada', email: 'ada@example.com' })).toBe('user.read');
});

test('what is told by ids has those of aggregates alone', () => {
  const data = { userId: 1, name: 'Ada', badgeId: 'B 1' };
  expect(idsIn(club, 'user-1' as StreamName, data)).toEqual({ userId: 1 });
});
