import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { assemble } from '#kernel/assembly/assemble.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref, states } from '#kernel/declare/fields.ts';
import { rolesOf } from '#kernel/registry/roles.ts';
import { type Caller, may, policyOf } from '#shared/policy.ts';
import { callerIn, POLICY } from '../../test/engines/policy.ts';
import { support } from '../../test/toy/support.ts';
import { type Narrowed, readableParts } from './rights.ts';
import type { Source } from './source.ts';
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

const TICKETS = demandSource(sourcesOf(support), 'ticket');
const textsOf = (caller: Caller, source: Source, narrowed: Narrowed = {}) =>
  readableParts(caller, source, narrowed).map((part) => part(new Parameters()));

test('callers who read everything read it at once where no index has the states apart', () => {
  const [agent, customer] = ['agent', 'customer'].map((role) =>
    callerIn(policyOf(support), { userId: ME, role }),
  ) as [Caller, Caller];
  const isAcrossStates = true;
  expect(textsOf(agent, TICKETS)).toEqual([["t.status = 'open'"], ["t.status = 'solved'"]]);
  expect(textsOf(agent, TICKETS, { isAcrossStates })).toEqual([[]]);
  expect(textsOf(agent, { ...TICKETS, staysWhenEnded: true })).toEqual([[]]);
  expect(textsOf(agent, TICKETS, { isAcrossStates, states: ['solved'] })).toEqual([["t.status = 'solved'"]]);
  expect(textsOf(customer, TICKETS, { isAcrossStates })).toHaveLength(2);
});

test('a child that is as visible as its parent is read by its states, without a look at the parent', () => {
  const shop = domain({ name: 'shop', roles: ['clerk'] });
  const box = shop.aggregate('box', {
    names: { plural: 'boxes' },
    owner: 'keeper',
    fields: { keeper: ref(shop.user), name: line(20) },
    events: { put: { creates: ['name'] } },
    commands: { put: { emits: 'put' } },
    rights: { read: { clerk: 'own' }, write: { clerk: true } },
  });
  const drawer = shop.aggregate('drawer', {
    parent: 'box',
    fields: { box: ref(box), name: line(20), lid: states('open', 'shut') },
    events: { added: { creates: ['name'] }, shut: { sets: { lid: 'shut' } } },
    commands: { add: { emits: 'added' }, shut: { emits: 'shut' } },
    rights: { read: { as: 'box' }, write: { clerk: true } },
  });
  const drawers = assemble(shop, [box, drawer]);
  const clerk = callerIn(policyOf(drawers), { userId: ME, role: 'clerk' });
  const source = demandSource(sourcesOf(drawers), 'drawer');
  expect(textsOf(clerk, source, { equal: { box_id: 7 } })).toEqual([
    ["t.lid = 'open'", 't.box_id = $1::bigint'],
    ["t.lid = 'shut'", 't.box_id = $1::bigint'],
  ]);
  expect(textsOf(clerk, source, { isAcrossStates: true })).toEqual([[]]);
});
