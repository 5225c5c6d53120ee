import { ref, sum } from 'annals';
import { view } from './base.ts';
import { claim } from './claim.ts';
import { team } from './team.ts';

export const spending = view('spending', {
  says: 'The money that a team has spent of its budget.',
  of: [team, claim],
  key: { team: ref(team) },
  values: { budget: sum(), waiting: sum(), approved: sum(), paid: sum().sort() },
  from: {
    team: {
      by: { team: 'id' },
      on: { opened: { gives: { budget: 'budget' } }, edited: { changes: { budget: 'budget' } } },
    },
    claim: {
      by: { team: 'team' },
      on: {
        submitted: { gives: { waiting: 1 } },
        rejected: { gives: null },
        approved: { gives: { approved: 'total' } },
        paid: { gives: { paid: 'total' } },
      },
    },
  },
  read: { approver: { team: { approver: 'caller' } }, accountant: true },
});
