import { describeDomain } from '../../package/testing/describe-domain.ts';
import { batches } from '../toy/batches.ts';

/** Without their signatures, which nobody could give. */
describeDomain(batches);
