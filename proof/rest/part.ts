import { Router } from 'express';
import { demandAdmission } from '#edge/rest/admission.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import { VERIFICATION_OPERATIONS } from '#shared/rest/operator-operations.ts';
import { answerOperatorCommand } from '../../query/operations/operator-command-routes.ts';
import type { QueryPart } from '../../query/part.ts';
import type { Reads } from '../../query/rest/read-routes.ts';
import { placeInChain } from '../chain/place-in-chain.ts';
import { checkPageRoutes } from '../page/routes.ts';
import { eventProofReads } from './event-proof.ts';
import { exportRoutes } from './export.ts';
import { itemProofRoutes } from './item-proof-routes.ts';
import { proofsOf } from './proofs.ts';
import { auditReads, readAuditStatus } from './reads.ts';
import { treeRoutes } from './tree-routes.ts';

/** The proof as the query role serves it: its state, heads and keys, the tree, exports, and requests to verify. */
export const part: QueryPart = {
  links: [{ rel: 'audit', href: '/audit/status', title: 'State of the proof' }],
  proof: { readStatus: readAuditStatus, placeInChain, proofsOf },
  async open(resources) {
    await migrateAudit(resources.pool);
    const reads: Reads<'getAuditStatus' | 'listAuditHeads' | 'listAuditKeys' | 'getEventProof'> = {
      ...auditReads(resources),
      ...eventProofReads(resources),
    };
    const routes = [
      exportRoutes(resources),
      itemProofRoutes({ ...resources, ...resources.timeTravel }),
      checkPageRoutes(resources),
      verificationRoutes(resources),
      treeRoutes({ ...resources, isTreePrivate: resources.config.audit?.isTreePrivate ?? false }),
    ];
    return { reads, routes: Router().use(...routes) };
  },
};

const { verifyLog: VERIFY } = VERIFICATION_OPERATIONS;

/** Records requests to verify; the projector role executes them. */
const verificationRoutes = ({ pool }: { readonly pool: Pool }): Router =>
  Router().post(routeOf(VERIFY), demandAdmission(VERIFY), async (request, response) =>
    answerOperatorCommand(pool, { request, response }, { kind: 'verify' }),
  );
