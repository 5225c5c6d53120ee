import { instant, latest, ref, sum } from 'annals';
import { view } from './base.ts';
import { team } from './team.ts';
import { ticket } from './ticket.ts';

export const workload = view('workload', {
  says: 'The tickets of a team.',
  of: [ticket],
  key: { team: ref(team) },
  values: {
    open: sum().says('Not solved yet.').sort(),
    breached: sum().says('Not solved in time.').sort(),
    lastSolvedAt: latest(instant()),
  },
  from: {
    ticket: {
      by: { team: 'team' },
      on: {
        opened: { gives: { open: 1 } },
        breached: { changes: { breached: 1 } },
        replied: { changes: { open: 1 } },
        solved: { changes: { open: 0, lastSolvedAt: 'now' } },
        merged: { gives: null },
      },
    },
  },
  read: { agent: { team: 'mine' }, lead: true },
});
