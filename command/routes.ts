import { type Request, type RequestHandler, Router } from 'express';
import { demandBodyRate } from '#edge/http/body-time.ts';
import { demandAdmission } from '#edge/rest/admission.ts';
import { answerWritten } from '#edge/rest/writes/answer.ts';
import { contextOf } from '#edge/rest/writes/context.ts';
import { itemOf } from '#edge/rest/writes/item.ts';
import { itemWrites } from '#edge/rest/writes/item-writes.ts';
import type { WriteDependencies } from '#edge/rest/writes/write-routes.ts';
import type { ImageType } from '#kernel/base/image-type.ts';
import { kebab } from '#kernel/base/names.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import {
  demandPictureType,
  PICTURE_BYTES_MAX,
  type Picture,
  pictureTooLarge,
  receivePicture,
  unsupportedPicture,
} from '#shared/blobs/picture.ts';
import { setUpload } from '#shared/blobs/set-upload.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { ofAggregates } from '#shared/rest/operations.ts';

/** All writes over REST. */
export const commandRoutes = (dependencies: WriteDependencies & UploadDependencies): Router =>
  Router().use(itemWrites(dependencies), uploadRoutes(dependencies));

type UploadDependencies = {
  readonly domain: Domain;
  readonly gateway: CommandGateway;
  readonly blobs: Pick<Blobs, 'put' | 'remove'>;
  readonly requireIfMatch: boolean;
};

/** Uploads for aggregates and items: the bytes go to the blob storage, and a command records the path. */
const uploadRoutes = (dependencies: UploadDependencies): Router => {
  const { gateway, blobs, requireIfMatch } = dependencies;
  const router = Router();
  for (const [, operation] of ofAggregates(dependencies.domain)) {
    const { use } = operation;
    if (use.does !== 'putFile' && use.does !== 'removeFile') continue;
    const { kind, upload } = use;
    const { name: field, list } = upload;
    const type = typeOfCommand(kind, upload.command.name);
    const idsOf = (request: Request) =>
      itemOf(operation, request) as Readonly<Record<string, number | string>>;
    const selfOf = (id: number, ids: Readonly<Record<string, number | string>>): string =>
      `/${kind.path}/${id}${list === undefined ? '' : `/${kebab(list.name)}/${encodeURIComponent(String(ids[list.id.name]))}`}`;
    const put: RequestHandler = async (request, response) => {
      const ids = idsOf(request);
      const context = contextOf(request, operation, { requireIfMatch });
      const pictureType = demandPicture(request);
      const length = request.get('Content-Length');
      // A retry finds the version that the first request made: with a key, only the command itself can check
      // preconditions.
      const { idempotencyKey, ifVersion, unlessVersion, ...first } = context;
      const conditions = idempotencyKey === undefined ? { ifVersion, unlessVersion } : {};
      const result = await setUpload({
        blobs,
        id: Number(ids[`${kind.name}Id`]),
        check: () => gateway.send({ type, ...ids }, { ...first, ...conditions }),
        receive: () => receiveBody(request, pictureType),
        bytes: length === undefined ? undefined : Number(length),
        // Each attempt stores the file under a new name, so the key covers the bytes instead.
        change: (path, digest) =>
          gateway.send(
            { type, ...ids, [field]: path },
            { ...context, content: `${field} ${Object.values(ids).join(' ')} ${digest}` },
          ),
        // Discards the rest of the body, so that the client gets to read the response.
      }).finally(() => request.resume());
      answerWritten(request, response, { operation, result, self: selfOf(result.id, ids) });
    };
    const remove: RequestHandler = async (request, response) => {
      const context = contextOf(request, operation, { requireIfMatch });
      const ids = idsOf(request);
      const result = await gateway.send({ type, ...ids, [field]: null }, context);
      answerWritten(request, response, { operation, result, self: selfOf(result.id, ids) });
    };
    const route = router.route(routeOf(operation));
    if (use.does === 'putFile') route.put(demandAdmission(operation), put);
    else route.delete(demandAdmission(operation), remove);
  }
  return router;
};

/** Checks the headers of an upload, and refuses an unsupported file before reading any of it. */
const demandPicture = (request: Request): ImageType => {
  const type = demandPictureType(request.get('Content-Type') ?? '');
  if (!/^(?:identity)?$/i.test(request.get('Content-Encoding') ?? ''))
    throw unsupportedPicture('Send the picture without a Content-Encoding.');
  if (request.get('Content-Range') !== undefined)
    throw new HttpProblem('malformed_request', { detail: 'Send the whole picture, without Content-Range.' });
  if (Number(request.get('Content-Length') ?? 0) > PICTURE_BYTES_MAX) throw pictureTooLarge();
  return type;
};

/** Leaving the body early does not destroy the connection, which carries the response. */
const receiveBody = (request: Request, type: ImageType): Promise<Picture> => {
  demandBodyRate(request, BYTES_PER_SECOND_MIN);
  return receivePicture(request.iterator({ destroyOnReturn: false }), type);
};

/** A phone on a poor line is as fast; the largest file then takes five and a half minutes. */
const BYTES_PER_SECOND_MIN = 32_768;
