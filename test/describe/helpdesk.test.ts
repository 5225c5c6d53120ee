import { describeDomain } from '../../testing/describe-domain/describe-domain.ts';
import { helpdesk } from '../toy/helpdesk.ts';

describeDomain(helpdesk, { file: 'test/toy/helpdesk.ts' });
