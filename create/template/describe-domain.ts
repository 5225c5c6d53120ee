import { describeDomain } from 'annals/testing';
import { served } from './domain/domain.ts';

// Tests everything that the declaration promises, on every interface, for each role in every state, in a
// minute or more: `npm run test:domain`.
describeDomain(served);
