import { describeDomain } from './describe-domain.ts';
import { desk } from './desk.ts';

describeDomain(desk, { file: 'test/describe/desk.ts' });
