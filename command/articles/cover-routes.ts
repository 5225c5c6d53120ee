import { type Request, type Response, Router } from 'express';
import type { Blobs } from '#shared/blobs/blobs.ts';
import { setCover } from '#shared/blobs/set-cover.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { demandAdmission } from '#shared/rest/admission.ts';
import { ARTICLE_OPERATIONS } from '#shared/rest/articles.ts';
import { routeOf } from '#shared/rest/operation.ts';
import { answerWritten } from '#shared/rest/writes/answer.ts';
import { contextOf } from '#shared/rest/writes/context.ts';
import { itemOf } from '#shared/rest/writes/item.ts';
import { demandPicture, receiveBody } from './receive-picture.ts';

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
    const length = request.get('Content-Length');
    // A repetition finds the version that it made itself: with a key, only the keyed command can tell what must not be changed.
    const { idempotencyKey, ifVersion, unlessVersion, ...first } = context;
    const conditions = idempotencyKey === undefined ? { ifVersion, unlessVersion } : {};
    const result = await setCover({
      blobs,
      articleId,
      check: () => gateway.send({ type: 'EditArticle', articleId }, { ...first, ...conditions }),
      receive: () => receiveBody(request, type),
      bytes: length === undefined ? undefined : Number(length),
      // The name of the picture is another each time, so that the key stands for its bytes.
      change: (cover, digest) =>
        gateway.send({ type: 'EditArticle', articleId, cover }, { ...context, content: `cover ${articleId} ${digest}` }),
      // What is not wanted any more is let go by, so that the client comes to reading the answer.
    }).finally(() => request.resume());
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
