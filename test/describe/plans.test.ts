import { plans } from '../toy/plans.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(plans, { file: 'test/toy/plans.ts' });
