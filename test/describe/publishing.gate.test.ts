import { publishing } from '#domain/publishing.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(publishing);
