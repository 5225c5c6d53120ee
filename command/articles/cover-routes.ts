import { type Request, type Response, Router } from 'express';
import { type ImageType, newBlobName, pathOfBlob } from '#shared/blobs/blob-name.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { Rejection } from '#shared/rejection.ts';
import { ARTICLE_OPERATIONS } from '#shared/rest/articles.ts';
import { routeOf } from '#shared/rest/operation.ts';
import { demandAdmission } from '../rest/admission.ts';
import { answerWritten } from '../rest/answer.ts';
import { contextOf } from '../rest/context.ts';
import { itemOf } from '../rest/item.ts';
import { demandPicture, receivePicture } from './receive-picture.ts';

export type CoverDependencies = {
  readonly gateway: CommandGateway;
  readonly blobs: Pick<Blobs, 'put' | 'remove'>;
  readonly requireIfMatch: boolean;
};

const { putCover, deleteCover } = ARTICLE_OPERATIONS;

/** The picture of an article: its bytes go to the blobs, and the command then names where they are. */
export const coverRoutes = ({ gateway, blobs, requireIfMatch }: CoverDependencies): Router => {
  const change = async (request: Request, response: Response): Promise<void> => {
    const { articleId } = itemOf(putCover, request);
    const context = contextOf(request, putCover, { requireIfMatch });
    const type = demandPicture(request);
    // Changes nothing, and is refused as the change itself would be: before a byte is stored.
    await gateway.send({ type: 'EditArticle', articleId }, context);
    const name = await store(blobs, request, type);
    const result = await gateway
      .send({ type: 'EditArticle', articleId, cover: pathOfBlob(name) }, context)
      .catch(async (error: unknown) => {
        // Only a refusal says for certain that no article names it. What cannot be removed is in nobody's way.
        if (error instanceof Rejection) await blobs.remove(name).catch(() => {});
        throw error;
      });
    answerWritten(request, response, { operation: putCover, result, self: `/articles/${result.id}` });
  };
  const remove = async (request: Request, response: Response): Promise<void> => {
    const { articleId } = itemOf(deleteCover, request);
    const context = contextOf(request, deleteCover, { requireIfMatch });
    const result = await gateway.send({ type: 'EditArticle', articleId, cover: null }, context);
    answerWritten(request, response, { operation: deleteCover, result, self: `/articles/${result.id}` });
  };
  return Router()
    .put(routeOf(putCover), demandAdmission(putCover), change)
    .delete(routeOf(deleteCover), demandAdmission(deleteCover), remove);
};

const store = async (blobs: CoverDependencies['blobs'], request: Request, type: ImageType) => {
  const name = newBlobName(type);
  const length = request.get('Content-Length');
  try {
    await using picture = await receivePicture(request, type);
    await blobs.put(name, picture.chunks, { bytes: length === undefined ? undefined : Number(length) });
    return name;
  } finally {
    // What is not wanted any more is let go by, so that the client comes to reading the answer.
    request.resume();
  }
};
