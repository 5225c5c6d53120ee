import { line, list, ref } from 'annals';
import { aggregate, user } from './base.ts';

export const team = aggregate('team', {
  says: 'Agents who answer the same kind of tickets.',
  label: 'name',
  fields: {
    name: line(100).unique().example('Printers'),
    members: list({ agent: ref(user) }, { max: 50, key: 'agent' }),
  },
  events: {
    opened: { creates: ['name'] },
    renamed: { changes: ['name'] },
    memberAdded: { adds: 'members' },
    memberRemoved: { removes: 'members' },
    closed: { ends: true },
  },
  facts: { mine: { members: { some: { agent: 'caller' } } } },
  commands: {
    open: { emits: 'opened' },
    rename: { emits: 'renamed' },
    addMember: { emits: 'memberAdded' },
    removeMember: { emits: 'memberRemoved' },
    close: { emits: 'closed' },
  },
  rights: { read: { signedIn: true }, write: { lead: true } },
  reactions: { 'members.agent': { deleted: { run: 'removeMember' } } },
});
