import { domain, word } from 'annals';

const IBAN = /^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/;

/** Employees spend, approvers decide about their team, accountants pay. */
export const base = domain({
  name: 'expenses',
  roles: {
    employee: 'Claims what they spent.',
    approver: 'Decides on the claims of their teams.',
    accountant: 'Pays what was approved.',
  },
  user: {
    // Colleagues see each other’s names.
    read: { signedIn: true },
    fields: {
      iban: word(IBAN, 'Must be an IBAN without spaces.')
        .optional()
        .personal()
        .says('The account to which claims are paid.'),
    },
    fieldRights: { readBank: { reads: ['iban'], signedIn: 'caller', accountant: true } },
  },
});
export const { aggregate, view, user } = base;
