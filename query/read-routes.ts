import { type Request, type RequestHandler, Router } from 'express';
import * as z from 'zod';
import { callerOf } from '#shared/http/authenticate/authenticate.ts';
import { admit, type Caller } from '#shared/policy.ts';
import { mediaTypeFor } from '#shared/rest/media-type.ts';
import { type RestOperation, routeOf } from '#shared/rest/operation.ts';
import { OPERATIONS, type OperationId } from '#shared/rest/operations.ts';
import { answerRead, type ReadAnswer } from './answer.ts';
import { parametersOf } from './parameters.ts';

/** The operations that this role serves. */
type ReadId = { [Id in OperationId]: (typeof OPERATIONS)[Id]['role'] extends 'query' ? Id : never }[OperationId];

/** Who reads, and the id in the path where there is one, not yet looked at. */
type Reader = { readonly caller: Caller; readonly id: string };

type ParametersOf<Id extends ReadId> = (typeof OPERATIONS)[Id] extends { readonly query: infer Schema extends z.ZodObject }
  ? z.output<Schema>
  : Readonly<Record<never, never>>;

/** How each of some operations is carried out. */
export type Reads<Id extends ReadId = ReadId> = {
  readonly [Each in Id]: (reader: Reader, asked: ParametersOf<Each>) => Promise<ReadAnswer>;
};

/** The routes of all reads. `before` runs once the caller is admitted, and before anything is read. */
export const readRoutes = (reads: Reads, before: readonly RequestHandler[]): Router => {
  const router = Router();
  for (const [id, read] of Object.entries(reads)) {
    const operation: RestOperation = OPERATIONS[id as ReadId];
    // Each read takes what the schema of its own operation lets through, which the compiler cannot see in a loop.
    const readAny = read as (reader: Reader, asked: object) => Promise<ReadAnswer>;
    router.get(routeOf(operation), demandAdmission(operation), ...before, async (request, response) => {
      const asked = parametersOf(operation.query ?? NO_PARAMETERS, request.query);
      answerRead(request, response, await readAny({ caller: callerOf(request), id: idIn(request) }, asked));
    });
  }
  return router;
};

const NO_PARAMETERS = z.strictObject({});

const demandAdmission =
  ({ right }: RestOperation): RequestHandler =>
  (request, _response, next) => {
    const admission = admit(callerOf(request), right);
    if (admission !== 'allowed') throw admission;
    mediaTypeFor(request);
    next();
  };

/** No path has more than one. */
const idIn = ({ params }: Request): string => String(Object.values(params)[0] ?? '');
