import { helpdesk } from '../toy/helpdesk.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(helpdesk, { file: 'test/toy/helpdesk.ts' });
