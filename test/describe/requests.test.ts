import { describeDomain } from '../../testing/describe-domain/describe-domain.ts';
import { requests } from '../toy/requests.ts';

const BY_TIMER = 'only a timer leads there, and the suite waits for none';

describeDomain(requests, {
  file: 'test/toy/requests.ts',
  unreached: {
    'request: no urgency reminded': BY_TIMER,
    'request: no urgency escalated': BY_TIMER,
    'request: no urgency breached': BY_TIMER,
  },
});
