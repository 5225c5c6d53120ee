import { expect, test } from 'vitest';
import { upcast } from '#shared/events/upcast.ts';
import { domain } from '../declare/domain.ts';
import { integer, line } from '../declare/fields.ts';
import { assemble } from '../registry/registry.ts';
import { definitionsOf } from './definitions.ts';

const versions = {
  version: 2,
  upcast: { 1: ({ section, ...data }: Readonly<Record<string, unknown>>) => ({ ...data, department: section }) },
};
const office = domain({
  name: 'office',
  roles: ['clerk'],
  user: { fields: { department: line(80).optional(), floor: integer(0, 99).default(3) }, events: { registered: versions } },
});
const definitions = new Map(definitionsOf(assemble(office, [])).map((definition) => [definition.type, definition]));
const read = (type: string, version: number, data: object) => {
  const definition = definitions.get(type);
  return definition?.schema.parse(upcast(definition, version, data as never));
};

const REGISTERED = { userId: 1, name: 'Ada', email: null, role: 'clerk' };

test('a field of users that was added is read as null or its default in what was stored before', () => {
  expect(read('user.registered', 2, REGISTERED)).toEqual({ ...REGISTERED, department: null, floor: 3 });
  expect(read('user.registered', 2, { ...REGISTERED, floor: 7 })).toMatchObject({ floor: 7 });
});

test('events of users have the versions that a domain gives them', () => {
  expect(definitions.get('user.registered')?.version).toBe(2);
  expect(read('user.registered', 1, { ...REGISTERED, section: 'Press' })).toEqual({ ...REGISTERED, department: 'Press', floor: 3 });
});

test('what a change does not name stays as it is', () => {
  expect(read('user.updated', 1, { userId: 1, name: 'Countess' })).toEqual({ userId: 1, name: 'Countess' });
});

test('what must be there is missed', () => {
  const { name: _, ...nameless } = REGISTERED;
  expect(() => read('user.registered', 2, nameless)).toThrow(/name/);
});
