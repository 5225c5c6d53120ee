import type { ArticleId, UserId } from '#shared/brands.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import { streamName } from '#shared/events/streams.ts';
import { notFound, Rejection } from '#shared/rejection.ts';
import { pathId } from '#shared/rest/path-id.ts';
import { refuseParked } from '../parked.ts';
import type { ArticleRow } from './representation.ts';
import { type FoundArticle, findArticles } from './statements.ts';

/** Finds the article that a path names. What is seen as absent is refused as absent. */
export type FindArticle = (id: string, isSeen: (article: ArticleRow) => boolean) => Promise<ArticleRow>;

export const createArticleFinder = (pool: Pool): FindArticle => {
  const find = coalesce<number, FoundArticle>((ids) => findArticles(pool, ids));
  return async (text, isSeen) => {
    const id = pathId(text);
    const article = id === undefined ? undefined : await find(id);
    if (id !== undefined && article === undefined) await refuseParked(pool, streamName('article', id as ArticleId));
    if (article === undefined || !isSeen(article)) throw new Rejection(notFound('article'));
    if (!article.author_found) await refuseParked(pool, streamName('user', article.author_id as UserId));
    return article;
  };
};
