import { count, month, ref } from 'annals';
import { view } from './base.ts';
import { team } from './team.ts';
import { ticket } from './ticket.ts';

export const months = view('months', {
  says: 'The tickets that were opened in a month, by team.',
  of: [ticket],
  key: { month: month(), team: ref(team) },
  values: { opened: count().sort(), solved: count(), breached: count().says('Not solved in time.') },
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
