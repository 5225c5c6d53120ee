import { clinic } from '../toy/clinic.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(clinic, { file: 'test/toy/clinic.ts' });
