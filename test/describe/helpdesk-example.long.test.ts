import { helpdesk } from '../../examples/helpdesk/domain/domain.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(helpdesk, {
  file: 'examples/helpdesk/domain/domain.ts',
  unchecked: {
    'the limits of ticket.followUpOn': 'the suite tries them on a solved ticket, which is not triaged',
  },
});
