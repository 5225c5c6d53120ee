import { describe, expect, test } from 'vitest';
import { reason } from '../base/reason.ts';
import { domain } from '../declare/domain.ts';
import { line, ref, states } from '../declare/fields.ts';
import { asksForPersons } from '../registry/signed.ts';
import { aggregateOperations } from '../rest/operations.ts';
import { assemble } from './assemble.ts';

type More = Readonly<Record<string, unknown>>;

const PARTS = {
  owner: 'author',
  events: { written: { creates: ['text'] }, closed: { sets: { status: 'closed' } }, deleted: { ends: true } },
  commands: {
    file: { emits: 'written' },
    close: { emits: 'closed' },
    delete: { emits: 'deleted', when: ['open', 'closed'] },
  },
  rights: { read: { anyone: true }, write: { signedIn: true } },
};

const declared = ({ fields, ...more }: More, user: More = {}) => {
  const base = domain({ name: 'notes', roles: ['clerk'], user: user as object });
  const all = {
    author: ref(base.user),
    text: line(100).personal(),
    status: states('open', 'closed'),
    ...(fields as object | undefined),
  };
  const aggregate = base.aggregate as unknown as (name: string, parts: More) => never;
  return assemble(base, [aggregate('note', { ...PARTS, fields: all, ...more })]);
};

const RIGHT = { right: { clerk: true } };
const retain = (more: More = {}) => ({ retain: { for: '2 years', after: 'closed', run: 'delete', ...more } });

describe('a hold is refused', () => {
  test.each([
    ['has no right', { hold: {} }, 'does not say who may place and release holds'],
    ['has another word', { hold: { ...RIGHT, until: 'x' } }, '`hold` has `until`'],
    ['has `as`', { hold: { right: { as: 'author' } } }, 'has `as`: name the roles instead'],
    ['names an unknown role', { hold: { right: { clark: true } } }, 'names clark, which is not a role'],
    [
      'is on what nothing ends',
      { hold: RIGHT, commands: { file: { emits: 'written' } } },
      'but no command ends a note: remove it',
    ],
    [
      'has a name that is taken',
      { hold: RIGHT, fields: { held: line(10) } },
      'fields has held, which is reserved',
    ],
    [
      'has a command that is taken',
      { hold: RIGHT, commands: { ...PARTS.commands, placeHold: { emits: 'closed' } } },
      'commands has placeHold, which is reserved',
    ],
  ] as const)('that %s', (_, parts, sentence) => {
    expect(() => declared(parts)).toThrow(sentence);
  });
});

describe('a retention is refused', () => {
  test.each([
    ['lacks a word', { retain: { for: '2 years', run: 'delete' } }, '`retain` has no `after`'],
    ['has another word', retain({ until: 'end' }), '`retain` has `until`'],
    ['has no time', retain({ for: 'ever' }), 'keeps it for “ever”: use a whole number'],
    ['begins after no event', retain({ after: 'shut' }), 'begins after shut, which is no event'],
    ['begins after the end', retain({ after: ['closed', 'deleted'] }), 'begins after deleted'],
    ['ends nothing', retain({ run: 'close' }), 'runs close, which is no command that only ends a note'],
    [
      'has a name that is taken',
      { ...retain(), fields: { retainedSince: line(10) } },
      'are reserved for `retain`',
    ],
  ] as const)('that %s', (_, parts, sentence) => {
    expect(() => declared(parts)).toThrow(sentence);
  });
});

test('a hold needs the same reason as a command, and those from before stay readable', () => {
  const { demanded, recorded } = declared({ hold: RIGHT }).kinds.note?.lists.holds?.fields.reason ?? {};
  expect(demanded).toBe(reason);
  expect(recorded?.safeParse('…').success).toBe(true);
});

test('with holds alone, the domain asks whether a person has signed in, who releases them', () => {
  expect(asksForPersons(declared({ hold: RIGHT }))).toBe(true);
  expect(asksForPersons(declared({}, { hold: { right: {} } }))).toBe(true);
  expect(asksForPersons(declared({}))).toBe(false);
});

test('holds on users have paths as those on items', () => {
  const operations = Object.values(aggregateOperations(declared({}, { hold: { right: {} } })));
  const paths = operations.map(({ method, path }) => `${method} ${path}`);
  expect(paths).toEqual(
    expect.arrayContaining([
      ...['GET /users/{userId}/holds', 'POST /users/{userId}/holds'],
      ...['GET /users/{userId}/holds/{holdId}', 'DELETE /users/{userId}/holds/{holdId}'],
    ]),
  );
});

test('without them nothing is added, and users have what holds on their data need', () => {
  const plain = declared({});
  expect(Object.keys(plain.kinds.user?.fields ?? {})).toEqual(['name', 'email', 'role']);
  expect(plain.kinds.note).not.toHaveProperty('hold');
  const { user, note } = declared({ hold: RIGHT }).kinds;
  expect(Object.keys(user?.fields ?? {})).toEqual(['name', 'email', 'role', 'heldItems']);
  expect(note?.refusals.unheld?.code).toBe('note_held');
  // Nobody else may read how many items of somebody are held.
  expect(user?.fieldRights.readHeldItems).toEqual({ reads: ['heldItems'] });
  expect(Object.keys(declared({}, { hold: { right: {} } }).kinds.user?.lists ?? {})).toEqual(['holds']);
});
