import { helpdesk } from '../../examples/helpdesk/domain/domain.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(helpdesk, { file: 'examples/helpdesk/domain/domain.ts' });
