import { describeDomain } from '../../testing/describe-domain/describe-domain.ts';
import { teams } from '../toy/teams.ts';

describeDomain(teams, { file: 'test/toy/teams.ts' });
