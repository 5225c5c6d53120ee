import { type RequestHandler, Router } from 'express';
import { routesWhenAsked } from '#edge/http/routes-when-asked.ts';
import { demandAdmission } from '#edge/rest/admission.ts';
import { answerWritten } from '#edge/rest/writes/answer.ts';
import { contextOf } from '#edge/rest/writes/context.ts';
import { itemOf } from '#edge/rest/writes/item.ts';
import { kebab } from '#kernel/base/names.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import type { AggregateOperation } from '#kernel/rest/operation.ts';
import { ofAggregates } from '#shared/rest/operations.ts';
import type { Ids, UploadDependencies, UploadTarget } from './upload-target.ts';

/** Uploads for aggregates and items. The code that receives a file is loaded with the first one. */
export const uploadRoutes = (dependencies: UploadDependencies): Router => {
  const router = Router();
  for (const [, operation] of ofAggregates(dependencies.domain)) {
    const { use } = operation;
    if (use.does !== 'putFile' && use.does !== 'removeFile') continue;
    const target = targetOf(operation, use);
    const route = router.route(routeOf(operation));
    if (use.does === 'removeFile') route.delete(demandAdmission(operation), removeFile(dependencies, target));
    else
      route.put(
        demandAdmission(operation),
        routesWhenAsked(async () => (await import('./put-file.ts')).putFile(dependencies, target)),
      );
  }
  return router;
};

const targetOf = (
  operation: AggregateOperation,
  { kind, upload }: Pick<UploadTarget, 'kind' | 'upload'>,
): UploadTarget => {
  const { list } = upload;
  return {
    ...{ operation, kind, upload },
    type: typeOfCommand(kind, upload.command.name),
    idsOf: (request) => itemOf(operation, request) as Ids,
    selfOf: (id, ids) =>
      `/${kind.path}/${id}${list === undefined ? '' : `/${kebab(list.name)}/${encodeURIComponent(String(ids[list.id.name]))}`}`,
  };
};

const removeFile =
  (
    { gateway, requireIfMatch }: UploadDependencies,
    { operation, upload, type, idsOf, selfOf }: UploadTarget,
  ): RequestHandler =>
  async (request, response) => {
    const context = contextOf(request, operation, { requireIfMatch });
    const ids = idsOf(request);
    const result = await gateway.send({ type, ...ids, [upload.name]: null }, context);
    answerWritten(request, response, { operation, result, self: selfOf(result.id, ids) });
  };
