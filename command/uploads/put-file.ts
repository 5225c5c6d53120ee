import type { Request, RequestHandler } from 'express';
import { demandBodyRate } from '#edge/http/body-time.ts';
import { answerWritten } from '#edge/rest/writes/answer.ts';
import { contextOf } from '#edge/rest/writes/context.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Accepted } from '#kernel/decide/accepted-files.ts';
import {
  demandFileType,
  fileTooLarge,
  type IncomingFile,
  nounOf,
  receiveFile,
  unsupportedFile,
} from '#shared/blobs/incoming-file.ts';
import { setUpload } from '#shared/blobs/set-upload.ts';
import { fileNameIn } from './file-name.ts';
import type { UploadDependencies, UploadTarget } from './upload-target.ts';

/** The bytes go to the blob storage, and a command records the path. */
export const putFile =
  (
    { gateway, blobs, requireIfMatch }: UploadDependencies,
    { operation, kind, upload, type, idsOf, selfOf }: UploadTarget,
  ): RequestHandler =>
  async (request, response) => {
    const ids = idsOf(request);
    const context = contextOf(request, operation, { requireIfMatch });
    const fileType = demandFile(request, upload.accepts);
    const name = upload.accepts.isPicture ? undefined : fileNameIn(request);
    const length = request.get('Content-Length');
    // A retry finds the version that the first request made: with a key, only the command itself can check
    // preconditions.
    const { idempotencyKey, ifVersion, unlessVersion, ...first } = context;
    const conditions = idempotencyKey === undefined ? { ifVersion, unlessVersion } : {};
    const result = await setUpload({
      blobs,
      kind,
      upload,
      id: Number(ids[`${kind.name}Id`]),
      check: () => gateway.send({ type, ...ids }, { ...first, ...conditions }),
      receive: async () => ({ ...(await receiveBody(request, upload.accepts, fileType)), name }),
      bytes: length === undefined ? undefined : Number(length),
      // Each attempt stores the file under a new name, so the key covers the bytes instead.
      change: (members, digest) =>
        gateway.send(
          { type, ...ids, ...members },
          { ...context, content: `${upload.name} ${Object.values(ids).join(' ')} ${digest}` },
        ),
      // Discards the rest of the body, so that the client gets to read the response.
    }).finally(() => request.resume());
    answerWritten(request, response, { operation, result, self: selfOf(result.id, ids) });
  };

/** Checks the headers of an upload, and refuses an unsupported file before reading any of it. */
const demandFile = (request: Request, accepted: Accepted): string => {
  const type = demandFileType(accepted, request.get('Content-Type') ?? '');
  if (!/^(?:identity)?$/i.test(request.get('Content-Encoding') ?? ''))
    throw unsupportedFile(accepted, `Send the ${nounOf(accepted)} without a Content-Encoding.`);
  if (request.get('Content-Range') !== undefined)
    throw new HttpProblem('malformed_request', {
      detail: `Send the whole ${nounOf(accepted)}, without Content-Range.`,
    });
  if (Number(request.get('Content-Length') ?? 0) > accepted.bytesMax) throw fileTooLarge(accepted);
  return type;
};

/** Leaving the body early does not destroy the connection, which carries the response. */
const receiveBody = (request: Request, accepted: Accepted, type: string): Promise<IncomingFile> => {
  demandBodyRate(request, BYTES_PER_SECOND_MIN);
  return receiveFile(request.iterator({ destroyOnReturn: false }), accepted, type);
};

/** A phone on a poor line is as fast; the largest picture then takes five and a half minutes. */
const BYTES_PER_SECOND_MIN = 32_768;
