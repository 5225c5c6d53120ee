import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { integer, line, ref, set } from '../declare/fields.ts';
import { route } from '../declare/route.ts';
import { assemble } from './assemble.ts';

const shop = domain({ name: 'shop', roles: ['seller'] });

const routed = (change: object): string => {
  const right = {
    path: '/note-summary',
    says: 'Notes',
    right: 'note.read',
    gives: { notes: integer(0, 9) },
    sql: () => 'select 1 as notes',
  };
  const note = shop.aggregate('note', {
    owner: 'writer',
    fields: { writer: ref(shop.user), title: line(20) },
    events: { written: { creates: ['title'] }, changed: { changes: ['title'] } },
    commands: { jot: { emits: 'written' }, change: { emits: 'changed' } },
    rights: { read: { anyone: true }, write: { seller: 'own', admin: 'own' } },
  });
  try {
    assemble(shop, [note], [], [route('summarizeNotes', { ...right, ...change } as never)]);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

test('a valid route is accepted, and an unknown right refused with those that there are', () => {
  expect(routed({})).toBe('');
  expect(routed({ right: 'note.see' })).toMatch(
    /^the route summarizeNotes requires the right note\.see, which does not exist: use one of .*note\.read/,
  );
});

test.each(
  Object.entries<object>({
    'the route summarizeNotes has the path /notes, which is already used, or is not “/” followed by lower-case letters, digits and hyphens: give it another path.':
      { path: '/notes' },
    'the route summarizeNotes has the path /events, which is already used, or is not “/” followed by lower-case letters, digits and hyphens: give it another path.':
      { path: '/events' },
    'the route summarizeNotes has the path /a/b, which is already used, or is not “/” followed by lower-case letters, digits and hyphens: give it another path.':
      { path: '/a/b' },
    'the route summarizeNotes requires the right note.change, which no role has without a condition: use a right that some role has without a condition.':
      { right: 'note.change' },
    'the route summarizeNotes has rows, which is not a plain value or has a reserved name: give it another type or name.':
      { gives: { rows: set(line(9), 3) } },
    'the route summarizeNotes has more than one statement: remove “;”, “--” and “/*”.': {
      sql: () => 'select 1 as notes; select 2',
    },
    'the route summarizeNotes has unbalanced parentheses: balance “(” and “)”.': {
      sql: () => 'select 1 as notes) a, (select 2',
    },
    'the route summarizeNotes uses the parameter most, which it does not take: use one of callerId.': {
      sql: ({ most }: { most: string }) => `select ${most} as notes`,
    },
  }),
)('refused: %s', (says, change) => {
  expect(routed(change)).toBe(says);
});
