import { describeDomain } from './describe-domain.ts';
import { suggestions } from './suggestions.ts';

describeDomain(suggestions, { file: 'test/describe/suggestions.ts' });
