import { domain } from 'annals';

/** A small clinic: what must be shown years later is part of the declaration. */
export const base = domain({
  name: 'records',
  roles: {
    patient: 'Sees their own treatments, and who has read them.',
    nurse: 'Admits patients, and writes down findings.',
    doctor: 'Diagnoses, prescribes and discharges.',
    counsel: 'Places holds, releases those of others, and has old records destroyed.',
  },
  user: {
    // Patients see who treats them, and not each other.
    read: { patient: ['nurse', 'doctor'], nurse: true, doctor: true, counsel: true },
    // While there is a dispute, nobody erases the patient.
    hold: { right: { counsel: true } },
  },
  // Inspectors read everything until a day, and change nothing.
  auditors: true,
});
export const { aggregate, user } = base;
