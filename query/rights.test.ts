import { expect, test } from 'vitest';
import type { UserId } from '#shared/brands.ts';
import { ROLES } from '#shared/events/fields.ts';
import { type Caller, may } from '#shared/policy.ts';
import { POLICY } from '../test/engines/policy.ts';
import { type ArticleStatus, readableArticles } from './rights.ts';

const ME = 1 as UserId;
const OTHER = 2 as UserId;
const AUTHORS = [ME, OTHER];
const STATUSES: readonly ArticleStatus[] = ['draft', 'published'];
const CALLERS: readonly (readonly [string, Caller])[] = [
  ['anonymous', { kind: 'anonymous', policy: POLICY }],
  ['the system', { kind: 'system', name: 'test' }],
  ...ROLES.flatMap((role) =>
    [['read:articles'], []].map((scopes): [string, Caller] => [
      `a ${role} with scopes ${scopes}`,
      { kind: 'user', policy: POLICY, userId: ME, role, scopes: new Set(scopes), client: null },
    ]),
  ),
];

test.each(CALLERS)('each article that %s may read is in one part, and no other is in any, whatever the filter', (_, caller) => {
  for (const status of [undefined, ...STATUSES]) {
    for (const authorId of [undefined, ...AUTHORS]) {
      const parts = readableArticles(caller, { status, authorId });
      for (const articleStatus of STATUSES) {
        for (const ownerId of AUTHORS) {
          const isListed = (status ?? articleStatus) === articleStatus && (authorId ?? ownerId) === ownerId;
          const holding = parts.filter((part) => part.status === articleStatus && (part.authorId ?? ownerId) === ownerId);
          expect(holding.length).toBe(
            isListed && may(caller, 'article.read', { fields: { status: articleStatus, author: ownerId } }) ? 1 : 0,
          );
        }
      }
    }
  }
});
