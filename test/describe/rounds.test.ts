import { describeDomain } from './describe-domain.ts';
import { rounds } from './rounds.ts';

describeDomain(rounds, {
  file: 'test/describe/rounds.ts',
  unreached: { 'visit: no urgency reminded': 'only a timer leads there, and the suite waits for none' },
});
