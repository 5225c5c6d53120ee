import { month, ref, sum } from 'annals';
import { view } from './base.ts';
import { team } from './team.ts';
import { ticket } from './ticket.ts';

export const months = view('months', {
  says: 'The tickets that were opened in a month, by team.',
  of: [ticket],
  key: { month: month(), team: ref(team) },
  values: { opened: sum().sort(), solved: sum(), breached: sum().says('Not solved in time.') },
  from: {
    ticket: {
      by: { month: 'now', team: 'team' },
      on: {
        opened: { gives: { opened: 1 } },
        replied: { changes: { solved: 0 } },
        solved: { changes: { solved: 1 } },
        breached: { changes: { breached: 1 } },
        merged: { gives: null },
      },
    },
  },
  read: { agent: { team: 'mine' }, lead: true },
});
