import type { Proof } from '../../query/proof.ts';
import { placeInChain } from '../chain/place-in-chain.ts';
import { erasureReads } from './erasure.ts';
import { exportRoutes } from './export.ts';
import { auditReads, readAuditStatus } from './reads.ts';

/** The proof as the query role serves it. */
export const proof: Proof = {
  readsOf: (dependencies) => ({ ...auditReads(dependencies), ...erasureReads(dependencies) }),
  routesOf: exportRoutes,
  readStatus: readAuditStatus,
  placeInChain,
};
