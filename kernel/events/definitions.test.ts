import { expect, test } from 'vitest';
import { upcast } from '#shared/events/upcast.ts';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { integer, line, states } from '../declare/fields.ts';
import { definitionsOf } from './definitions.ts';

const versions = {
  upcasts: [({ section, ...data }: Readonly<Record<string, unknown>>) => ({ ...data, department: section })],
};
const office = domain({
  name: 'office',
  roles: ['clerk'],
  user: {
    fields: { department: line(80).optional(), floor: integer(0, 99).default(3) },
    events: { registered: versions },
  },
});
const definitions = new Map(
  definitionsOf(assemble(office, [])).map((definition) => [definition.type, definition]),
);
const read = (type: string, version: number, data: object) => {
  const definition = definitions.get(type);
  return definition?.schema.parse(upcast(definition, version, data as never));
};

const REGISTERED = { userId: 1, name: 'Ada', email: null, role: 'clerk' };

test('events stored before a user field was added read as null or its default', () => {
  expect(read('user.registered', 2, REGISTERED)).toEqual({ ...REGISTERED, department: null, floor: 3 });
  expect(read('user.registered', 2, { ...REGISTERED, floor: 7 })).toMatchObject({ floor: 7 });
});

test('user events have the versions that a domain gives them', () => {
  expect(definitions.get('user.registered')?.version).toBe(2);
  expect(read('user.registered', 1, { ...REGISTERED, section: 'Press' })).toEqual({
    ...REGISTERED,
    department: 'Press',
    floor: 3,
  });
});

test('a field that a change does not contain stays the same', () => {
  expect(read('user.updated', 1, { userId: 1, name: 'Countess' })).toEqual({ userId: 1, name: 'Countess' });
});

test('a missing required field is an error', () => {
  const { name: _, ...nameless } = REGISTERED;
  expect(() => read('user.registered', 2, nameless)).toThrow(/name/);
});

const plain = domain({ name: 'yard', roles: ['clerk'] });
const job = plain.aggregate('job', {
  fields: {
    title: line(9),
    site: line(9).optional(),
    hours: integer(0, 9).default(0),
    status: states('open', 'done'),
  },
  events: {
    made: { creates: ['title', 'site'] },
    done: { sets: { status: 'done' }, carries: ['site'], computes: ['hours'] },
  },
  commands: { make: { emits: 'made' }, finish: { emits: ['done'], decide: () => [['done', { hours: 1 }]] } },
  rights: { read: { anyone: true } },
} as never);
const yard = new Map(
  definitionsOf(assemble(plain, [job] as never)).map((definition) => [definition.type, definition]),
);

test('only fields of a creation are filled in: a later carried or computed field needs a version', () => {
  const absent = (type: string) => yard.get(type)?.absent;
  expect([absent('job.made'), absent('job.done')]).toEqual([{ site: null }, {}]);
});
