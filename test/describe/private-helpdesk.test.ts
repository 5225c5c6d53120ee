import { privateHelpdesk } from '../toy/private-helpdesk.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(privateHelpdesk, { file: 'test/toy/private-helpdesk.ts' });
