import { domain, line } from 'annals';

/** Customers ask, agents answer, leads run the teams. */
export const base = domain({
  name: 'helpdesk',
  roles: {
    customer: 'Asks, and sees the tickets of their own.',
    agent: 'Answers all tickets.',
    lead: 'An agent who opens and closes teams.',
  },
  user: {
    // Customers see whom they talk to, and not each other.
    read: { customer: ['agent', 'lead'], agent: true, lead: true },
    fields: { phone: line(40).optional().personal() },
    fieldRights: { readContact: { reads: ['email', 'phone'], signedIn: 'caller', agent: true, lead: true } },
  },
});
export const { aggregate, view, user } = base;
