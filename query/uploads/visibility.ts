import type { Request } from 'express';
import { type BlobName, pathOfBlob } from '#shared/blobs/blob-name.ts';
import { callerOf } from '#shared/http/authenticate/authenticate.ts';
import { may, withoutToken } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import type { FindArticle } from '../articles/find-article.ts';
import { type ArticleRow, articleResource } from '../articles/representation.ts';
import { secondsLeft } from './signed-address.ts';

/** For how long, and in which caches, an answer may be kept; nothing if the caller may not read the picture. */
export type Visibility = { readonly cacheControl: string };

export type VisibilityOf = (request: Request, name: BlobName) => Promise<Visibility | undefined>;

/** Unpublishing takes a picture out of shared caches within this. */
const PUBLIC_MAX_AGE_S = 300;
export const PUBLIC: Visibility = { cacheControl: `public, max-age=${PUBLIC_MAX_AGE_S}` };

type Options = { readonly findArticle: FindArticle; readonly key: Buffer };

/**
 * A picture is as visible as the article whose cover it is. Whoever may change the article may also read a picture that it does not
 * have yet, or has no more; a signed address stands for the right of whoever asked for it.
 */
export const createVisibility =
  ({ findArticle, key }: Options): VisibilityOf =>
  async (request, name) => {
    const left = secondsLeft(key, name, request.query);
    if (left > 0) return { cacheControl: `private, max-age=${left}` };
    const caller = callerOf(request);
    const [articleId = ''] = name.split('-', 1);
    const isCover = ({ cover }: ArticleRow) => cover === pathOfBlob(name);
    const isSeen = (article: ArticleRow) => may(caller, isCover(article) ? 'article.read' : 'article.edit', articleResource(article));
    try {
      const article = await findArticle(articleId, isSeen);
      const isPublic = isCover(article) && may(withoutToken(caller), 'article.read', articleResource(article));
      return isPublic ? PUBLIC : { cacheControl: 'private, no-cache' };
    } catch (error) {
      if (error instanceof Rejection && error.code === 'article_not_found') return undefined;
      throw error;
    }
  };
