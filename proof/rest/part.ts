import { Router } from 'express';
import { migrateAudit } from '#shared/audit/migrate.ts';
import type { QueryPart } from '../../query/part.ts';
import type { Reads } from '../../query/rest/read-routes.ts';
import { placeInChain } from '../chain/place-in-chain.ts';
import { exportRoutes } from './export.ts';
import { auditReads, readAuditStatus } from './reads.ts';
import { verificationRoutes } from './verifications.ts';

/** The proof as the query role serves it: its state, its heads and keys, exports, and requests to verify. */
export const part: QueryPart = {
  links: [{ rel: 'audit', href: '/audit/status', title: 'State of the proof' }],
  proof: { readStatus: readAuditStatus, placeInChain },
  async open(resources) {
    await migrateAudit(resources.pool);
    const reads: Reads<'getAuditStatus' | 'listAuditHeads' | 'listAuditKeys'> = auditReads(resources);
    return { reads, routes: Router().use(exportRoutes(resources), verificationRoutes(resources)) };
  },
};
