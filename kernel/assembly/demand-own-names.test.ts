import { expect, test } from 'vitest';
import { StartRefused } from '../base/start-refused.ts';
import { domain } from '../declare/domain.ts';
import { choice, type Fields, line, list, ref } from '../declare/fields.ts';
import { sum } from '../declare/view.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });
const { aggregate, user, view } = base;

type Tried = {
  readonly name?: string;
  readonly fields?: Fields;
  readonly events?: object;
  readonly commands?: object;
  readonly more?: object;
  readonly view?: string;
};

const assembled = (tried: Tried) => {
  const note = aggregate(
    (tried.name ?? 'note') as 'note',
    {
      fields: { clerk: ref(user), title: line(9), ...tried.fields },
      events: { made: { creates: ['clerk', 'title'] }, ...tried.events },
      commands: { make: { emits: 'made' }, ...tried.commands },
      rights: { read: { anyone: true } },
      ...tried.more,
    } as never,
  );
  const counts = view((tried.view ?? 'counts') as 'counts', {
    of: [note],
    key: { clerk: ref(user) },
    values: { notes: sum() },
    from: { note: { by: { clerk: 'clerk' }, on: { made: { gives: { notes: 1 } } } } } as never,
    read: { anyone: true },
  });
  return assemble(base, [note] as never, tried.name === undefined ? [counts] : []);
};

test('names that no object has are accepted', () => expect(() => assembled({})).not.toThrow());

/** A computed key, because `__proto__:` in a literal sets the prototype. */
const PROTO = { ['__proto__']: line(9).optional() };

test.each<readonly [place: string, tried: Tried]>([
  ['the aggregate constructor', { name: 'constructor' }],
  ['note: the name constructor', { more: { names: { plural: 'constructor' } } }],
  ['note: in fields, toString', { fields: { toString: line(9).optional() } as never }],
  ['note: in fields, __proto__', { fields: PROTO }],
  ['note: in items, valueOf', { fields: { rows: list({ valueOf: line(9) } as never, { max: 3 }) } }],
  ['note: the word constructor', { fields: { kind: choice('constructor').default('constructor') } }],
  ['note: the word valueOf', { fields: { kind: choice('a').default('a').filter('valueOf') } }],
  ['note: in events, constructor', { events: { constructor: {} } }],
  ['note: in commands, toString', { commands: { toString: { emits: 'made' } } }],
  ['note: in facts, valueOf', { more: { facts: { valueOf: { title: 'a' } } } }],
  ['note: in limits, constructor', { more: { limits: { constructor: { max: 1, says: 'Too many.' } } } }],
  ['the view constructor', { view: 'constructor' }],
])('%s has the name of an inherited member, and is refused', (place, tried) => {
  expect(() => assembled(tried)).toThrow(
    new StartRefused(
      `${place} has the name of a property that every JavaScript object has: give it another name.`,
    ),
  );
});

test('a role with such a name is refused', () => {
  expect(() => assemble(domain({ name: 'tried', roles: ['clerk', 'constructor'] }), [])).toThrow(
    new StartRefused(
      'the role constructor has the name of a property that every JavaScript object has: give it another name.',
    ),
  );
});

test('lookups by names that every object has find nothing', () => {
  const { kinds } = assembled({});
  const { events, commands } = kinds.note ?? {};
  expect([kinds, events, commands].map((named) => [named?.constructor, named?.toString])).toEqual(
    Array(3).fill([undefined, undefined]),
  );
});
