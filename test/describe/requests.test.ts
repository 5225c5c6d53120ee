import { describeDomain } from '../../testing/describe-domain/describe-domain.ts';
import { requests } from '../toy/requests.ts';

describeDomain(requests, { file: 'test/toy/requests.ts' });
