import { Router } from 'express';
import { demandAdmission } from '#edge/rest/admission.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import type { Pool } from '#shared/database/pool.ts';
import { VERIFICATION_OPERATIONS } from '#shared/rest/operator.ts';
import { answerOperatorCommand } from '../../query/operations/operator-command-routes.ts';

const { verifyLog: VERIFY } = VERIFICATION_OPERATIONS;

/** Records requests to verify; the projector role executes them. */
export const verificationRoutes = ({ pool }: { readonly pool: Pool }): Router =>
  Router().post(routeOf(VERIFY), demandAdmission(VERIFY), async (request, response) =>
    answerOperatorCommand(pool, { request, response }, { kind: 'verify' }),
  );
