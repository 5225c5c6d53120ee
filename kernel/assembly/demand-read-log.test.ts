import { expect, test } from 'vitest';
import { rightsOf } from '../conditions/rights.ts';
import { domain } from '../declare/domain.ts';
import { line, list, ref } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const assembled = (more: object, { command = 'admit', listed = 'notes' } = {}) => {
  const base = domain({ name: 'ward', roles: ['doctor'] });
  const declaration = {
    owner: 'doctor',
    fields: { doctor: ref(base.user), name: line(20), [listed]: list({ text: line(20) }, { max: 3 }) },
    events: { admitted: { creates: ['name'] }, noted: { adds: listed } },
    commands: { [command]: { emits: 'admitted' }, note: { emits: 'noted' } },
    rights: { read: { doctor: true } },
    ...more,
  };
  return assemble(base, [base.aggregate('patient', declaration as never)] as never);
};

test('reads are logged if the aggregate says so, whole or by fields', () => {
  const readsIn = (reads: unknown) => assembled({ reads }).kinds.patient?.reads;
  expect(readsIn(undefined)).toBe(undefined);
  expect(readsIn('logged')).toEqual({ only: undefined, ifUnwritable: 'refuse' });
  expect(readsIn({ log: ['name', 'notes'], ifUnwritable: 'serve' })).toEqual({
    only: ['name', 'notes'],
    ifUnwritable: 'serve',
  });
});

test('administrators alone read the readers, unless the row names others', () => {
  const reachOf = (rights: object, role: string) =>
    rightsOf(assembled({ reads: 'logged', rights }))
      .get('patient.readers')
      ?.byRole.get(role)?.size;
  expect(reachOf({ read: { doctor: true }, write: { doctor: true } }, 'doctor')).toBe(0);
  expect(reachOf({ read: { doctor: true } }, 'admin')).toBe(1);
  expect(reachOf({ read: { doctor: true }, readers: { doctor: 'own' } }, 'doctor')).toBe(1);
  expect(rightsOf(assembled({})).has('patient.readers')).toBe(false);
});

test.each([
  [{ reads: { log: ['nam'] } }, {}, /logs nam, which is neither a field nor a list: name one of .*notes/],
  [{ reads: { log: [] } }, {}, /logs no field: name one, or write `log: 'all'`/],
  [{ reads: { log: 'all', ifUnwritable: 'ignore' } }, {}, /`ifUnwritable` ignore: write 'refuse' or 'serve'/],
  [{ reads: 'yes' }, {}, /`reads` is yes: write 'logged'/],
  [{ rights: { read: {}, readers: {} } }, {}, /the right readers .* reads are not logged/],
  [{ reads: 'logged' }, { command: 'readers' }, /the command readers has the name of a right/],
  [{ reads: 'logged' }, { listed: 'readers' }, /the list readers has the path of the log of reads/],
])('%j is refused', (more, names, sentence) => {
  expect(() => assembled(more, names)).toThrow(sentence);
});
