import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, integer, line, list, picture, prose, ref } from '#kernel/declare/fields.ts';
import { latest, sum } from '#kernel/declare/view.ts';

/** A clinic that records who reads its patients. Wards are open to everybody, and record nothing. */
const base = domain({ name: 'clinic', roles: ['doctor', 'nurse'], user: { read: { signedIn: true } } });
const { aggregate, user, view } = base;

const patient = aggregate('patient', {
  owner: 'doctor',
  label: 'name',
  fields: {
    doctor: ref(user),
    name: line(60).search('A'),
    diagnosis: prose(500).optional(),
    stage: choice('early', 'late').filter(),
    days: integer(0, 999).default(0),
    photo: picture({ external: true }).optional(),
    notes: list({ text: line(80), pulse: integer(1, 300) }, { max: 9 }),
  },
  events: {
    admitted: { creates: ['name', 'diagnosis', 'stage', 'days'] },
    changed: { changes: ['name', 'diagnosis', 'stage', 'days', 'photo'] },
    noted: { adds: 'notes' },
    left: { ends: true },
  },
  commands: {
    admit: { emits: 'admitted' },
    change: { emits: 'changed' },
    note: { emits: 'noted' },
    leave: { emits: 'left' },
  },
  rights: {
    read: { doctor: true, nurse: true },
    write: { doctor: true },
    readers: { doctor: 'own' },
  },
  fieldRights: { readDiagnosis: { reads: ['diagnosis'], doctor: true } },
  reads: 'logged',
});

/** Its parent is shown by its label. */
const visit = aggregate('visit', {
  owner: 'doctor',
  fields: { doctor: ref(user), patient: ref(patient), room: line(20) },
  events: { made: { creates: ['patient', 'room'] } },
  commands: { make: { emits: 'made' } },
  rights: { read: { signedIn: true }, write: { doctor: true } },
});

/** Only reads of its dose are recorded; and it is shown even if they cannot be. */
const prescription = aggregate('prescription', {
  owner: 'doctor',
  fields: { doctor: ref(user), drug: line(60), dose: integer(1, 999) },
  events: { given: { creates: ['drug', 'dose'] } },
  commands: { give: { emits: 'given' } },
  rights: { read: { signedIn: true }, write: { doctor: true } },
  fieldRights: { readDose: { reads: ['dose'], doctor: true } },
  reads: { log: ['dose'], ifUnwritable: 'serve' },
});

const ward = aggregate('ward', {
  fields: { name: line(60) },
  events: { opened: { creates: ['name'] } },
  commands: { open: { emits: 'opened' } },
  rights: { read: { anyone: true }, write: { doctor: true } },
});

const stay = view('stay', {
  of: [patient],
  key: { patient: ref(patient) },
  values: { days: sum(), stage: latest(choice('early', 'late')) },
  from: {
    patient: {
      by: { patient: 'id' },
      on: {
        admitted: { gives: { days: 'days', stage: 'stage' } },
        changed: { changes: { days: 'days', stage: 'stage' } },
      },
    },
  },
  read: { signedIn: true },
});

export const clinic = assemble(base, [patient, visit, prescription, ward], [stay]);
