import { describeDomain } from 'annals/testing';
import { served } from './domain/domain.ts';

// Whatever the declaration promises, on every interface, for each role in every state: `npm run test:domain`.
// It takes a minute or more.
describeDomain(served);
