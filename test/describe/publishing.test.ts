import { publishing } from '#domain/publishing.ts';
import { describeDomain } from '../../testing/describe-domain/describe-domain.ts';

describeDomain(publishing);
