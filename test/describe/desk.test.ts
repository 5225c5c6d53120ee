import { describeDomain } from '../../testing/describe-domain/describe-domain.ts';
import { desk } from './desk.ts';

describeDomain(desk, { file: 'test/describe/desk.ts' });
