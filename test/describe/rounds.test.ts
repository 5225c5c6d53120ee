import { describeDomain } from './describe-domain.ts';
import { rounds } from './rounds.ts';

describeDomain(rounds, { file: 'test/describe/rounds.ts' });
