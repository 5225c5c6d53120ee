import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { rolesOf } from '#kernel/registry/roles.ts';
import { type Caller, may } from '#shared/policy.ts';
import { callerIn, POLICY } from '../../test/engines/policy.ts';
import { readableParts } from './rights.ts';
import { demandSource, sourcesOf } from './sources.ts';
import { Parameters } from './statement.ts';

const ME = 1 as UserId;
const OTHER = 2 as UserId;
const AUTHORS = [ME, OTHER];
const STATUSES = ['draft', 'published'];
const ARTICLES = demandSource(sourcesOf(POLICY.domain), 'article');
const CALLERS: readonly (readonly [string, Caller])[] = [
  ['anonymous', { kind: 'anonymous', policy: POLICY }],
  ['the system', { kind: 'system', name: 'test' }],
  ...rolesOf(publishing).flatMap((role) =>
    [['read:articles'], []].map((scopes): [string, Caller] => [
      `a ${role} with scopes ${scopes}`,
      callerIn(POLICY, { userId: ME, role }, scopes),
    ]),
  ),
];

const CONDITION = /^t\.(\w+) = (?:'(\w+)'|\$(\d+)::bigint)$/;

/** Evaluates the conditions of a part, which compare columns with constants and parameters. */
const holds = (
  condition: string,
  row: Readonly<Record<string, unknown>>,
  values: readonly unknown[],
): boolean => {
  const [, column = '', constant, number] = CONDITION.exec(condition) ?? [];
  if (column === '') throw new Error(`${condition} is no comparison`);
  return row[column] === (constant ?? values[Number(number) - 1]);
};

test.each(CALLERS)(
  'each article that %s may read is in exactly one part, and no other is in any, whatever the filter',
  (_, caller) => {
    for (const status of [undefined, ...STATUSES]) {
      for (const authorId of [undefined, ...AUTHORS]) {
        const states = status === undefined ? undefined : [status];
        const parts = readableParts(caller, ARTICLES, {
          states,
          equal: authorId === undefined ? {} : { author_id: authorId },
        });
        for (const articleStatus of STATUSES) {
          for (const ownerId of AUTHORS) {
            const isListed = (status ?? articleStatus) === articleStatus && (authorId ?? ownerId) === ownerId;
            const row = { status: articleStatus, author_id: ownerId };
            const holding = parts.filter((part) => {
              const parameters = new Parameters();
              return part(parameters).every((condition) => holds(condition, row, parameters.values));
            });
            expect(holding.length).toBe(
              isListed && may(caller, 'article.read', { fields: { status: articleStatus, author: ownerId } })
                ? 1
                : 0,
            );
          }
        }
      }
    }
  },
);
