import { describeDomain } from '../../testing/describe-domain/describe-domain.ts';
import { receipts } from '../toy/receipts.ts';

describeDomain(receipts, { file: 'test/toy/receipts.ts' });
