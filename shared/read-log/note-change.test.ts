import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, line, list, ref } from '#kernel/declare/fields.ts';
import { notingChanges } from './note-change.ts';
import { noting } from './noted.ts';
import { Notes } from './notes.ts';

const wardThatLogs = (log: readonly string[]) => {
  const base = domain({ name: 'ward', roles: ['doctor'] });
  const patient = base.aggregate('patient', {
    owner: 'doctor',
    fields: {
      doctor: ref(base.user),
      name: line(20),
      stage: choice('early', 'late').default('early'),
      notes: list({ text: line(20) }, { max: 3 }),
    },
    events: {
      admitted: { creates: ['name'] },
      worsened: { sets: { stage: 'late' } },
      noted: { adds: 'notes' },
    },
    commands: { admit: { emits: 'admitted' }, worsen: { emits: 'worsened' }, note: { emits: 'noted' } },
    rights: { read: { doctor: true }, write: { doctor: true } },
    reads: { log },
  } as never);
  return assemble(base, [patient] as never);
};

test.each([
  { what: 'an item of a list', type: 'noted', keys: ['patientId', 'noteId', 'text'], logged: 'notes' },
  { what: 'an item of which only ids are shown', type: 'noted', keys: [], logged: 'notes' },
  { what: 'a reference', type: 'admitted', keys: ['doctorId', 'name'], logged: 'doctor' },
  { what: 'a value that its type says', type: 'worsened', keys: [], logged: 'stage' },
  { what: 'data of a former declaration', type: 'annotated', keys: ['text'], logged: 'notes' },
])('an event with $what is a read of the logged field', ({ type, keys, logged }) => {
  const notes = new Notes();
  noting(notes, () =>
    notingChanges(wardThatLogs([logged]))({ stream: 'patient-7', type: `patient.${type}` }, keys),
  );
  expect(notes.take()).toMatchObject([{ fields: [logged], items: [7] }]);
});

test('an event with other fields alone is none', () => {
  const notes = new Notes();
  noting(notes, () =>
    notingChanges(wardThatLogs(['notes']))({ stream: 'patient-7', type: 'patient.admitted' }, ['name']),
  );
  expect(notes.isEmpty).toBe(true);
});
