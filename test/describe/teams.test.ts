import { teams } from '../toy/teams.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(teams, { file: 'test/toy/teams.ts' });
