import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { PAGE_PATHS } from '../../auth/pages/page-paths.ts';
import { ROUTES } from '../../auth/provider/configuration.ts';
import { domain } from '../declare/domain.ts';
import { choice, type Fields, integer, line, ref, states } from '../declare/fields.ts';
import { assemble } from './assemble.ts';
import { TYPES_OF_THE_KERNEL, typesOf } from './demand-names.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });
const { aggregate, user } = base;

type Named = {
  readonly fields?: Fields;
  readonly more?: object;
  readonly names?: object;
  readonly commands?: object;
};
const kindOf = (name: string, { fields = {}, more = {}, names = {}, commands = {} }: Named = {}) =>
  aggregate(name, {
    names,
    owner: 'clerk',
    fields: { clerk: ref(user), title: line(9), ...fields },
    events: { made: { creates: ['title'] }, gone: { ends: true } },
    commands: { make: { emits: 'made' }, end: { emits: 'gone' }, ...commands },
    rights: { read: { anyone: true } },
    ...more,
  } as never);
const refused = (...kinds: readonly ReturnType<typeof kindOf>[]) => {
  try {
    assemble(base, kinds as never);
    return 'nothing';
  } catch (error) {
    return (error as Error).message;
  }
};

test('an aggregate cannot use a path of the kernel', () => {
  const served = [
    ...Object.values(operationsOf(publishing)).flatMap(({ of, path }) => (of === 'aggregate' ? [] : path)),
    ...[...PAGE_PATHS, ...Object.values(ROUTES), '/mcp', '/schemas/events'],
  ];
  const firsts = new Set(
    served
      .map((path) => path.split('/')[1] ?? '')
      .filter((first) => /^[a-z-]+$/.test(first) && first !== 'users'),
  );
  expect(firsts.size).toBeGreaterThan(15);
  for (const first of firsts) {
    const plural = first.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    expect(refused(kindOf('claim', { names: { plural } })), first).toMatch(
      / is a (?:path|table) of the kernel: give it another name\.$/,
    );
  }
});

test('two commands with an edit form are refused, with a solution', () => {
  const more = {
    events: { made: { creates: ['title'] }, renamed: { changes: ['title'] }, moved: { changes: ['clerk'] } },
  };
  const commands = { make: { emits: 'made' }, rename: { emits: 'renamed' }, move: { emits: 'moved' } };
  expect(refused(kindOf('claim', { more: { ...more, commands } }))).toBe(
    "claim: the commands rename and move both edit fields with a form, but an aggregate can have only one such command: let one event change the fields of both, or let moved also set a field (`sets: { doneAt: 'now' }`), which makes move an action with its own form.",
  );
});

test('facts may refer to facts, but not in a circle', () => {
  const withFacts = (facts: object) =>
    refused(kindOf('claim', { more: { facts, rights: { read: { anyone: 'shown' } } } }));
  expect(withFacts({ titled: { title: { not: null } }, shown: ['titled', 'own'] })).toBe('nothing');
  expect(withFacts({ titled: { shown: true }, shown: ['titled', 'own'] })).toBe(
    'claim: the fact titled depends on itself, through titled, shown, titled: define it by fields.',
  );
});

test.each(
  Object.entries<() => ReturnType<typeof kindOf>>({
    'Claim: the name Claim does not match ^[a-z][a-zA-Z0-9]{0,39}$: give it another name.': () =>
      kindOf('Claim'),
    'session: the name session is reserved for a stream of the kernel: give it another name.': () =>
      kindOf('session'),
    'order: the table order is reserved in SQL: give it another name.': () =>
      kindOf('order', { names: { plural: 'order' } }),
    'claim: the table removed is a table of the kernel: give it another name.': () =>
      kindOf('claim', { names: { plural: 'removed' } }),
    [`claim: the table a${'_b'.repeat(40)} has more than 63 characters: give it another name.`]: () =>
      kindOf('claim', { names: { plural: `a${'B'.repeat(40)}` } }),
    [`claim: the column a${'_b'.repeat(39)} has more than 63 characters: give it another name.`]: () =>
      kindOf('claim', { fields: { [`a${'B'.repeat(39)}`]: line(9) } }),
    'signOff: the path sign-offs is a path of the kernel: give it another name.': () => kindOf('signOff'),
    'claim: the path device is a path of the kernel: give it another name.': () =>
      kindOf('claim', { names: { plural: 'device' } }),
    'claim: the scope See It does not match ^[a-z][a-z0-9-]{0,39}$: give it another name.': () =>
      kindOf('claim', { more: { rights: { read: { scope: 'See It', anyone: true } } } }),
    'claim: the word in-review does not match ^[a-zA-Z_][a-zA-Z0-9_]{0,39}$: give it another name.': () =>
      kindOf('claim', { fields: { kind: choice('in-review', 'done') } }),
    'claim: the word now is reserved: give it another name.': () =>
      kindOf('claim', { fields: { kind: choice('now', 'then') } }),
    'event: the path events is a path of the kernel: give it another name.': () => kindOf('event'),
    'claim: the table users already belongs to user: give it another name.': () =>
      kindOf('claim', { names: { plural: 'users' } }),
    'claim: the type of GraphQL Query already belongs to the kernel: give it another name.': () =>
      kindOf('claim', { names: { graphql: 'Query' } }),
    'claim: the type of GraphQL User already belongs to user: give it another name.': () =>
      kindOf('claim', { names: { graphql: 'User' } }),
    'node: the field of GraphQL node is a query of the kernel: give it another name.': () => kindOf('node'),
    'claim: the column order is reserved in SQL: give it another name.': () =>
      kindOf('claim', { fields: { order: line(9) } }),
    'claim: the field seal is a field of every aggregate: give it another name.': () =>
      kindOf('claim', { fields: { seal: line(9) } }),
    'claim: the field version is a field of every aggregate: give it another name.': () =>
      kindOf('claim', { fields: { version: integer(1, 9) } }),
    'claim: the field createdAt is a field of every aggregate: give it another name.': () =>
      kindOf('claim', { fields: { createdAt: line(9) } }),
    'claim: the field claimId is the id of the aggregate: give it another name.': () =>
      kindOf('claim', { fields: { claimId: integer(1, 9) } }),
    'claim: the column clerk_id belongs to two fields: give it another name.': () =>
      kindOf('claim', { fields: { clerkId: integer(1, 9) } }),
    'claim: the field search is the column of the full-text search: give it another name.': () =>
      kindOf('claim', { fields: { search: line(9).search('A') } }),
    'claim: the filter sort is a parameter of every list: give it another name.': () =>
      kindOf('claim', { fields: { kind: choice('a', 'b').filter('sort') } }),
    'claim: the event changed is reserved for the subscription to all changes of an aggregate: give it another name.':
      () =>
        kindOf('claim', {
          more: {
            events: {
              made: { creates: ['title'] },
              gone: { ends: true },
              changed: { changes: ['title'], subscribe: true },
            },
          },
        }),
    'claim: the command patch is a command of every aggregate: give it another name.': () =>
      kindOf('claim', { commands: { patch: { emits: 'gone' } } }),
    'claim: the fact title is already a field or a word of conditions: give it another name.': () =>
      kindOf('claim', { more: { facts: { title: { title: 'x' } } } }),
    'claim: the fact opne has a sentence and no condition, and is no word of a choice: declare its condition in `when`.':
      () => kindOf('claim', { more: { facts: { opne: { says: 'It is closed.' } } } }),
    'claim: the fact own is already a field or a word of conditions: give it another name.': () =>
      kindOf('claim', { more: { facts: { own: { title: 'x' } } } }),
  }),
)('refused: %s', (says, kindNamed) => {
  expect(refused(kindNamed())).toBe(says);
});

test('an owner named like another filter of events is refused', () => {
  const ownedBy = (owner: string) => kindOf('claim', { fields: { [owner]: ref(user) }, more: { owner } });
  const under = kindOf('line', { fields: { claim: ref('claim' as never) }, more: { parent: 'claim' } });
  const claimer = kindOf('note', { fields: { claim: ref(user) }, more: { owner: 'claim' } });
  expect(refused(ownedBy('user'))).toBe(
    'claim: the owner user has the name of an aggregate by which events are filtered: give it another name.',
  );
  expect(refused(ownedBy('actor'))).toBe(
    'claim: the owner actor is a parameter of events: give it another name.',
  );
  expect(refused(kindOf('subject'))).toBe(
    'subject: the name subject is a parameter of events: give it another name.',
  );
  expect(refused(kindOf('claim'), under, claimer)).toBe(
    'note: the owner claim has the name of an aggregate by which events are filtered: give it another name.',
  );
});

test('two kinds with colliding names are refused', () => {
  const one = kindOf('order', { commands: { makePurchase: { emits: 'made' } } });
  const other = kindOf('purchaseOrder');
  expect(refused(one, other)).toBe(
    'purchaseOrder: the command MakePurchaseOrder already belongs to order: give it another name.',
  );
});

test('an ordinary declaration is accepted', () =>
  expect(refused(kindOf('claim', { fields: { dueAt: line(9).optional() } }))).toBe('nothing'));

test('the GraphQL types of the kernel are those of the recorded schema', async () => {
  const schema = await readFile(new URL('../../domain/contract/schema.graphql', import.meta.url), 'utf8');
  const recorded = [...schema.matchAll(/^(?:type|enum|input|interface|scalar) (\w+)/gm)].map(
    ([, name]) => name,
  );
  const known = new Set([...TYPES_OF_THE_KERNEL, ...Object.values(publishing.kinds).flatMap(typesOf)]);
  expect(recorded.filter((name) => !known.has(name ?? ''))).toEqual([]);
});

test('a fact cannot have the name of a word, because it would change the meaning of rights', () => {
  const draft = kindOf('claim', {
    fields: { status: states('open', 'shut') },
    more: { facts: { open: { title: 'x' } }, rights: { read: { anyone: 'open' } } },
  });
  expect(refused(draft)).toBe(
    'claim: the fact open is already a word of status, and each word is a fact: give it another name.',
  );
});
