import { describeDomain } from '../../testing/describe-domain/describe-domain.ts';
import { rounds } from './rounds.ts';

describeDomain(rounds, { file: 'test/describe/rounds.ts' });
