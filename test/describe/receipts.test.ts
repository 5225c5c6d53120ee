import { receipts } from '../toy/receipts.ts';
import { describeDomain } from './describe-domain.ts';

describeDomain(receipts, { file: 'test/toy/receipts.ts' });
