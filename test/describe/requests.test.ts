import { requests } from '../toy/requests.ts';
import { describeDomain } from './describe-domain.ts';

const BY_TIMER = 'only a timer leads there, and the suite waits for none';

describeDomain(requests, {
  file: 'test/toy/requests.ts',
  unreached: {
    'request: no urgency reminded': BY_TIMER,
    'request: no urgency escalated': BY_TIMER,
    'request: no urgency breached': BY_TIMER,
  },
});
