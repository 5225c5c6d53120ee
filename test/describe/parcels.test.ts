import { describeDomain } from './describe-domain.ts';
import { parcels } from './parcels.ts';

describeDomain(parcels, { file: 'test/describe/parcels.ts' });
