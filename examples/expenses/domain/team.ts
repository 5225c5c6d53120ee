import { integer, line, ref } from 'annals';
import { aggregate, user } from './base.ts';

const content = ['name', 'approver', 'budget'] as const;

export const team = aggregate('team', {
  says: 'Employees whose claims one approver decides, within one budget.',
  label: 'name',
  fields: {
    name: line(100).example('Field work'),
    approver: ref(user),
    budget: integer(1, 1_000_000_000).says('In cents, for the year.').example(500_000),
  },
  events: {
    opened: { creates: content },
    edited: { changes: content },
    closed: { ends: true },
  },
  commands: { open: { emits: 'opened' }, edit: { emits: 'edited' }, close: { emits: 'closed' } },
  rights: { read: { signedIn: true }, write: {} },
});
