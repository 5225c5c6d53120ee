import { instant, line, list, prose, ref, states } from 'annals';
import { aggregate, user } from './base.ts';

/** Each entry names its author and its time, which the server sets. */
const entry = { author: ref(user), writtenAt: instant() };
const written = { author: 'caller', writtenAt: 'now' } as const;
const staff = { nurse: true, doctor: true } as const;
const ofPatient = { erased: '[deleted]' };

export const treatment = aggregate('treatment', {
  says: 'Why a patient came, what was found, and what was done.',
  owner: 'patient',
  fields: {
    patient: ref(user).filter(),
    complaint: line(120).personal(ofPatient).example('Pain in the wrist'),
    diagnosis: line(200).optional().personal().example('Fracture of the radius'),
    diagnosedAt: instant().optional(),
    findings: list({ text: prose(4_000).personal(ofPatient), ...entry }, { max: 400 }),
    prescriptions: list(
      { drug: line(100).personal(ofPatient), dose: line(60).personal(ofPatient), ...entry },
      { max: 100 },
    ),
    report: prose(8_000).optional().personal().says('The letter that the patient takes home.'),
    status: states({
      open: 'The patient is being treated.',
      closed: 'Nothing is added any more.',
    }).filter(),
  },
  events: {
    admitted: { says: 'A patient was admitted.', creates: ['complaint'] },
    found: { adds: 'findings', sets: written },
    diagnosed: { changes: ['diagnosis'], sets: { diagnosedAt: 'now' } },
    corrected: {
      says: 'The diagnosis was corrected.',
      changes: ['diagnosis'],
      sets: { diagnosedAt: 'now' },
    },
    prescribed: { adds: 'prescriptions', sets: written },
    discharged: { changes: ['report'], sets: { status: 'closed' } },
    ended: { says: 'The account of the patient was deleted.', sets: { status: 'closed' } },
    destroyed: { ends: true },
  },
  facts: { diagnosed: { diagnosedAt: { not: null } } },
  commands: {
    admit: { emits: 'admitted' },
    addFinding: { emits: 'found', when: 'open' },
    diagnose: { emits: 'diagnosed', when: { status: 'open', diagnosed: false }, requires: ['diagnosis'] },
    correct: { emits: 'corrected', when: 'diagnosed', requires: ['diagnosis'], reason: 'required' },
    prescribe: { emits: 'prescribed', when: 'open', signed: { meaning: 'responsibility' } },
    discharge: {
      says: 'Discharge the patient',
      emits: 'discharged',
      when: { status: 'open', diagnosed: true },
      requires: ['report'],
      signed: { meaning: 'approval' },
    },
    end: { emits: 'ended', when: 'open', internal: true },
    destroy: { emits: 'destroyed', when: 'closed' },
  },
  rights: {
    read: { patient: 'own', ...staff, counsel: true },
    write: { doctor: true, admin: false },
    admit: staff,
    addFinding: staff,
    forOthers: staff,
    destroy: { counsel: true },
    readers: { patient: 'own' },
  },
  reads: 'logged',
  hold: { right: { counsel: true } },
  retain: { for: '10 years', after: ['discharged', 'ended'], run: 'destroy' },
  reactions: { patient: { deleted: { run: 'end', when: 'open' } } },
});
